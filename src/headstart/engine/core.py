"""The engine: one thread that plans a step, runs it, samples, and hands the tokens over.

The event loop and the thread share the scheduler under one lock that is never held during a forward
pass or across a wait. A request that is cancelled while its step runs is let go right after it.
"""

import asyncio
import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from torch import Tensor

from headstart.cache import Namespace, OverBudget, Pin, PrefixCache, TreeNode, Visit
from headstart.engine.admission import checked_prompt
from headstart.engine.answers import Answers
from headstart.engine.api import (
    CacheStats,
    Chunk,
    EngineStats,
    EngineStopped,
    FinishReason,
    GenerateRequest,
    InvalidGrammar,
    InvalidRequest,
    Lookup,
    Pinned,
    QueueFull,
    Verified,
)
from headstart.engine.events import EventSink, KVPicture, KVSource
from headstart.engine.generation import LocalGeneration
from headstart.engine.identity import Identity
from headstart.engine.offload import Offload
from headstart.engine.output import Output
from headstart.engine.resets import Resets
from headstart.engine.scheduler import Scheduler, Work
from headstart.engine.sequence import Group
from headstart.engine.sequence import Sequence as TokenSequence
from headstart.engine.shared import SharedPrefixes
from headstart.engine.verify import Verifier
from headstart.engine.warming import Warming
from headstart.model.grammar import GrammarCompiler, GrammarError, GrammarMatcher
from headstart.model.lora import Adapter
from headstart.model.runner import Runner, Slice
from headstart.model.sampling import Sampled, SequenceSampler
from headstart.text.codec import Codec

log = logging.getLogger("headstart.engine")


@dataclass(slots=True, eq=False)
class _Choice:
    """A sequence with everything the thread needs to go on with it."""

    sequence: TokenSequence
    sampler: SequenceSampler
    output: Output
    generation: LocalGeneration
    adapter: Adapter | None
    request: GenerateRequest


class LocalEngine:
    """The engine in this process; `headstart.engine.api.Engine` says what callers rely on."""

    def __init__(
        self,
        runner: Runner,
        scheduler: Scheduler,
        codec: Codec,
        identity: Identity,
        *,
        context_length: int,
        max_waiting: int,
        adapters: Sequence[Adapter] = (),
        clock: Callable[[], float] = time.monotonic,
        offload: Offload | None = None,
        verifier: Verifier | None = None,
        warming: Warming | None = None,
        resets: Resets | None = None,
        shared: SharedPrefixes | None = None,
    ) -> None:
        """`resets` makes it known beyond this process that the cache was reset.

        `shared`: what tenants share; None is nothing.
        """
        self._runner = runner
        self._scheduler = scheduler
        self._cache: PrefixCache = scheduler.cache
        self._shared = SharedPrefixes(scheduler.cache, ()) if shared is None else shared
        self._codec = codec
        self._identity = identity
        self._vocab_size = runner.decoder.config.vocab_size
        self._context_length = min(context_length, self._cache.total * self._cache.block_size)
        self._max_waiting = max_waiting
        self._adapters = {adapter.name: adapter for adapter in adapters}
        self._clock = clock
        self._grammars = GrammarCompiler(
            codec.tokenizer_json, vocab_size=self._vocab_size, eos_ids=codec.eos_ids
        )
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._resets = resets
        self._verifier = verifier
        self._warming = warming
        self._sink: EventSink | None = None
        self._offload = offload
        if offload is not None:
            offload.settled = self._notify
        self._choices: dict[TokenSequence, _Choice] = {}
        self._finished: Counter[FinishReason] = Counter()
        self._generated = 0
        self._arrivals = 0
        self._answers = Answers(codec)
        self._accepting = True
        self._stopping = False
        self._sound = True
        """Whether the books can be trusted."""
        self._thread = threading.Thread(target=self._run, name="headstart-engine", daemon=True)
        self._thread.start()
        if warming is not None:
            warming.start(self._idle)

    @property
    def ready(self) -> bool:
        """True while requests can be served."""
        return self._accepting and self._thread.is_alive()

    @property
    def context_length(self) -> int:
        """Most tokens of prompt and output together: the model's, or what the KV pool holds."""
        return self._context_length

    @property
    def adapters(self) -> Sequence[str]:
        """Names of the loaded LoRA adapters."""
        return list(self._adapters)

    def submit(self, request: GenerateRequest) -> LocalGeneration:
        """Queue a request. Raises EngineError, with nothing queued, if it can't be served."""
        prompt = checked_prompt(
            request, vocab_size=self._vocab_size, context_length=self._context_length
        )
        namespace, adapter = self._namespace(request.tenant, request.salt, request.adapter)
        params = request.params
        masks = [self._mask(request) for _ in range(request.n)]
        seed = secrets.randbits(62) if params.seed is None else params.seed
        group = Group(len(prompt))
        generation = LocalGeneration(group, request.n, self._cancel)
        with self._lock:
            if not self.ready:
                raise EngineStopped("The server is shutting down; send the request elsewhere.")
            waiting = len(self._scheduler.waiting)
            if waiting + request.n > self._max_waiting:
                raise QueueFull(
                    # Not how many wait: that would count other tenants' requests.
                    f"The queue is full: at most {self._max_waiting} requests may wait. "
                    "Try again later.",
                    retry_after=1 + waiting // max(1, len(self._scheduler.running)),
                )
            for index, mask in enumerate(masks):
                sequence = TokenSequence(
                    group,
                    prompt[:],
                    self._shared.chain(namespace, prompt),
                    self._arrivals,
                    params.max_tokens,
                )
                sampler = SequenceSampler(
                    params,
                    prompt,
                    vocab_size=self._vocab_size,
                    device=self._runner.device,
                    seed=(seed + index) % 2**63,
                    mask=mask,
                )
                output = Output(index, params, self._codec, prompt)
                self._arrivals += 1
                if self._offload is not None:
                    self._offload.begin(sequence)
                self._choices[sequence] = _Choice(
                    sequence, sampler, output, generation, adapter, request
                )
                self._scheduler.add(sequence)
            self._wake.notify()
        return generation

    def lookup(
        self, prompt: Sequence[int], *, tenant: str, salt: str | None, adapter: str | None
    ) -> Lookup:
        """What `prompt` would reuse now. Changes nothing."""
        namespace, _ = self._namespace(tenant, salt, adapter)
        with self._lock:
            chain = self._shared.chain(namespace, prompt)
            match = self._cache.match(chain, prompt)
            miss = self._cache.explain(chain, prompt)
        return Lookup(len(prompt), match.cached_tokens, miss)

    def pin(
        self,
        prompt: Sequence[int],
        *,
        tenant: str,
        salt: str | None,
        adapter: str | None,
        ttl: float,
        priority: int,
    ) -> Pinned | None:
        """Give up what is cached of `prompt` last; None if that is nothing."""
        namespace, _ = self._namespace(tenant, salt, adapter)
        with self._lock:
            chain = self._shared.chain(namespace, prompt)
            try:
                pin = self._cache.pin(chain, prompt, ttl=ttl, priority=priority)
            except OverBudget as error:
                raise InvalidRequest(f"The prompt can't be pinned: {error}.") from error
            return None if pin is None else self._pinned(pin)

    def pins(self, tenant: str) -> list[Pinned]:
        """What `tenant` has pinned."""
        with self._lock:
            return [self._pinned(pin) for pin in self._cache.pins(tenant)]

    def unpin(self, tenant: str, number: int) -> bool:
        """Let a pin of `tenant` go. False if it has none of this number."""
        with self._lock:
            pins = [pin for pin in self._cache.pins(tenant) if pin.id == number]
            for pin in pins:
                self._cache.unpin(pin)
            return bool(pins)

    def cache_tree(self, tenant: str | None, nodes: int) -> list[TreeNode]:
        """The live prefix tree of a tenant, or of all: its `nodes` largest nodes."""
        with self._lock:
            return self._cache.tree(tenant, nodes)

    @property
    def kv_source(self) -> KVSource:
        """What all its KV has in common."""
        names = {adapter.digest: name for name, adapter in reversed(self._adapters.items())}
        on_cpu = self._runner.device.type == "cpu"
        return KVSource(self._cache.block_size, "CPU" if on_cpu else "GPU", names)

    def follow(self, sink: EventSink) -> None:
        """Tell `sink` what can be found now, and from now on what changes."""
        with self._lock:
            self._cache.take_events()
            self._sink = sink
            if found := self._cache.findable():
                sink.publish(found)

    def kv_picture(self) -> KVPicture:
        """What can be found now."""
        with self._lock:
            self._tell()
            seq = None if self._sink is None else self._sink.next_seq
            return KVPicture(self._cache.findable(), seq)

    def _tell(self) -> None:
        """Hand over what has changed in the cache. Called under the lock."""
        if self._sink is not None and (events := self._cache.take_events()):
            self._sink.publish(events)

    def _pinned(self, pin: Pin) -> Pinned:
        return Pinned(pin.id, pin.tokens, pin.priority, pin.ttl, pin.until - self._clock())

    def reset_cache(self) -> None:
        """Forget all KV at once; running requests finish, what they hold is not kept.

        Returns when the tiers' places were told, or don't answer: it may take some seconds.
        """
        with self._lock:
            self._cache.reset(0 if self._resets is None else self._resets.fresh())
            self._tell()
            generation = self._cache.generation
        if self._resets is not None:
            self._resets.remember(generation)

    def stats(self) -> EngineStats:
        """Counters since start and gauges now."""
        with self._lock:
            cache, counters = self._cache, self._scheduler.counters
            rates = self._scheduler.tally.rates(self._clock())
            size = cache.block_size
            below = self._offload
            tiers, events = ((), {}) if below is None else below.tiers.stats()
            return EngineStats(
                cache=CacheStats(
                    block_size=size,
                    reuse_unit=self._cache.reuse_unit,
                    capacity_tokens=cache.total * size,
                    used_tokens=cache.leased * size,
                    cached_free_tokens=cache.cached * size,
                    prompt_tokens=rates.prompt,
                    hit_tokens=rates.hit,
                    recent_prompt_tokens=rates.recent_prompt,
                    recent_hit_tokens=rates.recent_hit,
                    evicted_blocks=cache.evicted,
                ),
                running=len(self._scheduler.running),
                waiting=len(self._scheduler.waiting),
                requests_finished=dict(self._finished),
                generated_tokens=self._generated,
                prefill_tokens=counters.prefill_tokens,
                preemptions=counters.preemptions,
                recomputed_tokens=counters.recomputed_tokens,
                kv_bytes=self._runner.pool.nbytes,
                tiers=tiers,
                tier_events=events,
                verified=Verified() if self._verifier is None else self._verifier.counts,
                dropped_event_batches=0 if self._sink is None else self._sink.dropped,
                loaded_tokens={} if below is None else dict(below.loaded),
            )

    def audit(self) -> None:
        """Check the cache's bookkeeping; raises CacheCorrupt."""
        with self._lock:
            self._cache.audit()

    async def aclose(self, drain_seconds: float) -> None:
        """Refuse new work, let running requests end within the time, abort the rest, stop."""
        self._accepting = False
        if self._warming is not None:
            self._warming.close()
        deadline = self._clock() + drain_seconds
        while self._choices and self._thread.is_alive() and self._clock() < deadline:
            await asyncio.sleep(0.02)
        with self._lock:
            self._stopping = True
            self._wake.notify()
        await asyncio.to_thread(self._thread.join)
        self._answers.close()
        if self._offload is not None:
            left = max(1.0, deadline - self._clock())
            await asyncio.to_thread(self._offload.close, left, flush=self._sound)
        if self._resets is not None:
            await asyncio.to_thread(self._resets.close)

    @contextmanager
    def _idle(self) -> Iterator[bool]:
        """Whether there is nothing to do, and no request is taken on meanwhile."""
        with self._lock:
            yield not self._choices and not self._stopping

    def _notify(self) -> None:
        with self._lock:
            self._wake.notify()

    def _namespace(
        self, tenant: str, salt: str | None, adapter: str | None
    ) -> tuple[Namespace, Adapter | None]:
        if adapter is not None and adapter not in self._adapters:
            raise InvalidRequest(f"No adapter is loaded under the name {adapter!r}.", field="model")
        loaded = None if adapter is None else self._adapters[adapter]
        digest = None if loaded is None else loaded.digest
        return self._identity.namespace(tenant, salt, digest), loaded

    def _mask(self, request: GenerateRequest) -> GrammarMatcher | None:
        grammar = request.params.grammar
        if grammar is None:
            return None
        try:
            return self._grammars.matcher(grammar)
        except GrammarError as error:
            raise InvalidGrammar(f"The grammar can't be used: {error}") from error

    def _cancel(self, generation: LocalGeneration) -> None:
        with self._lock:
            for choice in [c for c in self._choices.values() if c.generation is generation]:
                choice.sequence.cancelled = True
                if not choice.sequence.in_step:
                    self._drop(choice, "abort")
            self._wake.notify()

    def _drop(self, choice: _Choice, reason: FinishReason) -> None:
        sequence, hints = choice.sequence, choice.request.hints
        cached = sequence.group.cached_tokens or 0
        visit = Visit(
            now=self._clock(),
            prompt_tokens=sequence.prompt_tokens,
            new_tokens=sequence.prompt_tokens - cached,
            output_tokens=sequence.generated,
            session=None if hints.session is None else (choice.request.tenant, hints.session),
            stop=self._answers.why_ended(choice.request, sequence, reason),
            ended=hints.ended,
            expected_gap=hints.expected_gap,
        )
        if self._offload is not None:
            self._offload.ended(sequence, visit)
        self._scheduler.finish(sequence, visit)
        if reason in ("stop", "length") and sequence.generated:
            self._answers.ended(choice.request.tenant, sequence)
            if self._verifier is not None:
                self._verifier.ended(sequence, cached, choice.adapter)
        del self._choices[choice.sequence]
        self._finished[reason] += 1

    def _run(self) -> None:
        try:
            self._serve()
        except Exception:
            log.exception("the engine stops: its books can't be trusted any more")
            with self._lock:
                self._accepting = self._sound = False
                # Nothing is released: what failed once would fail again and leave others waiting.
                for choice in self._choices.values():
                    choice.generation.deliver([choice.output.fail("error")])
                self._finished["error"] += len(self._choices)
                self._choices.clear()

    def _serve(self) -> None:
        while True:
            with self._lock:
                if self._stopping:
                    self._abort_all("abort")
                    return
                work = self._scheduler.plan(self._clock())
                self._tell()
                self._runner.pool.copy_all(self._cache.take_copies())
                if not work:
                    self._wake.wait(0.05 if self._scheduler.waiting else None)
                    continue
            choices = [self._choices[item.sequence] for item in work]
            begin = self._clock()
            try:
                sampled = self._compute(work, choices)
            except Exception:
                log.exception("a step failed; its requests end with an error")
                with self._lock:
                    for choice in choices:
                        choice.sequence.in_step = False
                        self._fail(choice, "error")
                    self._tell()
            else:
                self._complete(work, choices, sampled)
                self._verify()
                if self._offload is not None:
                    tokens = sum(item.count for item in work if item.count > 1)
                    self._offload.prefilled(tokens, self._clock() - begin)

    def _verify(self) -> None:
        if self._verifier is not None and self._verifier.waiting:
            try:
                self._verifier.run()
            except Exception:  # What it computes nobody else reads.
                log.exception("a hit could not be verified")
            with self._lock:
                self._verifier.end()

    def _compute(
        self, work: Sequence[Work], choices: Sequence[_Choice]
    ) -> list[Sampled | Exception | None]:
        """Run the step. Per sequence: its next token, how drawing that failed, or None yet."""
        logits = self._runner.run(
            [_slice(item, choice) for item, choice in zip(work, choices, strict=True)]
        )
        rows = iter(logits)
        return [
            _sample(choice, next(rows)) if item.samples else None
            for item, choice in zip(work, choices, strict=True)
        ]

    def _complete(
        self,
        work: Sequence[Work],
        choices: Sequence[_Choice],
        sampled: Sequence[Sampled | Exception | None],
    ) -> None:
        """Publish what was computed and hand over what was drawn."""
        chunks: dict[LocalGeneration, list[Chunk]] = {}
        try:
            with self._lock:
                now = self._clock()
                for item, choice, token in zip(work, choices, sampled, strict=True):
                    self._scheduler.complete(item, now)
                    if self._offload is not None:
                        self._offload.computed(item.sequence)
                    if choice.sequence.cancelled:
                        self._drop(choice, "abort")
                    elif token is not None:
                        chunk = self._advance(choice, token)
                        chunks.setdefault(choice.generation, []).append(chunk)
                self._tell()
        finally:
            for generation, delivered in chunks.items():
                generation.deliver(delivered)

    def _advance(self, choice: _Choice, token: Sampled | Exception) -> Chunk:
        if isinstance(token, Exception):
            log.error("sampling failed; its request ends with an error", exc_info=token)
            self._drop(choice, "error")
            return choice.output.fail("error")
        if not choice.sequence.max_tokens:
            self._drop(choice, "length")
            return choice.output.fail("length")
        choice.sequence.tokens.append(token.token)
        self._generated += 1
        chunk = choice.output.feed(token, grammar_finished=choice.sampler.finished)
        if chunk.finish_reason is not None:
            self._drop(choice, chunk.finish_reason)
        return chunk

    def _fail(self, choice: _Choice, reason: FinishReason) -> None:
        self._drop(choice, reason)
        choice.generation.deliver([choice.output.fail(reason)])

    def _abort_all(self, reason: FinishReason) -> None:
        for choice in list(self._choices.values()):
            choice.sequence.in_step = False
            self._fail(choice, reason)


def _slice(work: Work, choice: _Choice) -> Slice:
    sequence = work.sequence
    assert sequence.lease is not None
    begin = sequence.computed
    return Slice(
        tokens=sequence.tokens[begin : begin + work.count],
        start=begin,
        blocks=sequence.lease.blocks,
        wants_logits=work.samples,
        adapter=choice.adapter,
    )


def _sample(choice: _Choice, logits: Tensor) -> Sampled | Exception:
    """A failure of one request's sampling (its grammar, say) must not end the others."""
    try:
        return choice.sampler.sample(logits)
    except Exception as error:
        return error
