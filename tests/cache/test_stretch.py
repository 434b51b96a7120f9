from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cache.build import acquired, namespace, stored
from tests.search import examples

from headstart.cache import PrefixCache, keys_up, stretch
from headstart.cache.keys import token_bytes

PROMPTS = st.lists(
    st.lists(st.integers(0, 1), min_size=8, max_size=32).map(lambda tokens: [*tokens[:-1], 9]),
    min_size=1,
    max_size=6,
)


@settings(max_examples=examples(60))
@given(PROMPTS, st.data())
def test_a_stretch_is_what_the_chain_of_its_tokens_says_however_the_path_is_cut(
    prompts: list[list[int]], data: st.DataObject
) -> None:
    """Prompts of two tokens cut each other's edges everywhere."""
    cache = PrefixCache(200, 2)
    space = namespace(block_size=2)
    for prompt in prompts:
        stored(cache, prompt, space)
    prompt = data.draw(st.sampled_from(prompts))
    whole = len(prompt) // 2
    begin = data.draw(st.integers(0, whole - 1))
    end = data.draw(st.integers(begin + 1, whole))
    lease = acquired(cache, [*prompt, 0, 0], space)
    part = stretch(lease.node, begin, end)
    chain = cache.chain(space)
    chain.extend(prompt)
    keys = [chain.root, *chain.keys_behind(chain.root, 0, whole)]
    assert (part.parent, part.key) == (keys[begin], keys[end])
    assert part.tokens == token_bytes(prompt[2 * begin : 2 * end])
    assert part.blocks == lease.blocks[begin:end]
    assert (part.namespace, part.first) == (space, begin)
    step = data.draw(st.integers(1, 4))
    assert list(keys_up(lease.node, end, step)) == keys[end:0:-step]
