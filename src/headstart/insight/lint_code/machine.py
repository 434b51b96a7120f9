"""Runs lowered modules with values of which only taints and shapes are known.

Every function is run on its own, with arguments of which nothing is known, and again at each call
in the tree with what is given there. Two rounds: the first one fills what methods put on objects
and what modules import from each other, the second one reports.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from headstart.insight.findings.finding import Step
from headstart.insight.findings.place import Place
from headstart.insight.lint_code import foreign, ir
from headstart.insight.lint_code.language import BAG, CHANCE, COUNTER, DRAWN, Language
from headstart.insight.lint_code.methods import Given, chained, merged, method, percent
from headstart.insight.lint_code.prompt import Early, role
from headstart.insight.lint_code.sinks import (
    PROMPT_DECORATORS,
    SPOKEN,
    SYSTEM_NAMES,
    Sent,
    answers,
    early,
)
from headstart.insight.lint_code.taint import NONE, Cause, Taint, hopped, ordered, unordered
from headstart.insight.lint_code.tree import Tree
from headstart.insight.lint_code.values import (
    CLEAN,
    Array,
    Closure,
    Foreign,
    Item,
    Klass,
    Object,
    Record,
    Scope,
    Space,
    Template,
    Text,
    Value,
    array,
    constant,
    elements,
    join,
    record,
    text,
    union,
    whole,
)

MAX_DEPTH = 8
MAX_BODIES = 200
"""Runs of functions that one function may cause; beyond it nothing is known of results."""
MAX_LINE = 100
APPENDS = frozenset({"append", "push", "extend", "appendleft"})
PERSISTENT = -1
"""The depth of what lives longer than one call."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A taint that reaches what stays of a prompt."""

    taint: Taint
    part: str
    sink: Step


@dataclass(slots=True)
class Frame:
    """One run of a module's or a function's body."""

    scope: Scope
    fixed: bool
    """Run once, when a module is loaded."""
    loops: int = 0
    returned: list[Value] = field(default_factory=list)
    yielded: list[Item] = field(default_factory=list)


class Machine:
    """For one set of modules."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._spaces: dict[int, Scope] = {}
        self._ran: set[int] = set()
        """Modules, in this round."""
        self._klasses: dict[int, Klass] = {}
        """By their scopes, and below by their nodes."""
        self._classes: dict[int, Klass] = {}
        self._closures: dict[int, Closure] = {}
        self._called: set[int] = set()
        self._memo: dict[tuple[object, ...], Value] = {}
        self._running: list[int] = []
        self.too_deep: set[str] = set()
        """Paths of modules with something that is nested too deeply to be followed."""
        self._bodies = 0
        """That were run since a module or a function was begun on its own."""
        self._seeded: set[str] = set()
        """Modules whose random values are the same each time."""
        self._hits: dict[tuple[object, ...], Hit] = {}

    def run(self) -> list[Hit]:
        """All hits, in the order in which they were met."""
        for _ in range(2):
            self._memo.clear()
            self._hits.clear()
            self._ran.clear()
            for module in self._tree.modules:
                self._space(module)
            done: set[int] = set()
            while rest := [each for key, each in self._closures.items() if key not in done]:
                for closure in rest:
                    done.add(id(closure.function))
                    try:
                        self._alone(closure)
                    except RecursionError:
                        self._running.clear()
                        self.too_deep.add(closure.scope.module.path)
        return list(self._hits.values())

    def _space(self, module: ir.Module) -> Scope:
        scope = self._spaces.setdefault(id(module), Scope(module))
        if id(module) not in self._ran:
            self._ran.add(id(module))
            self._bodies = 0
            try:
                self._block(module.body, Frame(scope, fixed=True))
            except RecursionError:
                self.too_deep.add(module.path)
        return scope

    def _alone(self, closure: Closure) -> None:
        """The function with unknown arguments, as anyone may call it."""
        bound = closure.bound
        klass = self._klasses.get(id(closure.scope))
        if bound is None and klass is not None:
            bound = Value(shape=Object(klass))
        function = closure.function
        self._bodies = 0
        unseen = id(function) not in self._called
        got = self._invoke(Closure(function, closure.scope, bound), (), {}, False, hints=unseen)
        if function.decorators & PROMPT_DECORATORS:
            frame = Frame(closure.scope, fixed=False)
            self._report(Early("the system prompt", got.taints), function, frame)

    # Statements

    def _block(self, body: Iterable[ir.Stmt], frame: Frame) -> None:
        for statement in body:
            self._statement(statement, frame)

    def _statement(self, node: ir.Stmt, frame: Frame) -> None:
        match node:
            case ir.Assign(target=target, value=value):
                got = self._moved(self._eval(value, frame), node.at, frame)
                self._store(target, got, frame, fresh=True)
            case ir.Grow():
                self._grow(node, frame)
            case ir.Run(value=value):
                self._eval(value, frame)
            case ir.Return(value=value, many=False):
                got = self._eval(value, frame)
                frame.returned.append(self._moved(got, node.at, frame))
            case ir.Return(value=value):
                got = whole(self._eval(value.of if isinstance(value, ir.Spread) else value, frame))
                frame.yielded.append(Item(got, many=True))
            case ir.Branch(bodies=bodies):
                self._branch(bodies, frame)
            case ir.Loop():
                self._loop(node, frame)
            case ir.Class():
                self._class(node, frame)
            case ir.Import():
                frame.scope.names[node.name] = self._import(node, frame)
            case ir.Outer(names=names):
                frame.scope.shared.update(names)
            case _:
                raise AssertionError(node)

    def _branch(self, bodies: Sequence[Sequence[ir.Stmt]], frame: Frame) -> None:
        names = frame.scope.names
        before, ends = dict(names), []
        for body in bodies:
            names.clear()
            names.update(before)
            returned = len(frame.returned)
            self._block(body, frame)
            left = any(isinstance(each, ir.Return) and not each.many for each in body)
            if not left or returned == len(frame.returned):
                ends.append(dict(names))
        ends = ends or [before]
        names.clear()
        for end in ends:
            for name, value in end.items():
                if name not in names:
                    names[name] = value
                elif names[name] is not value:
                    names[name] = join((names[name], value))

    def _loop(self, node: ir.Loop, frame: Frame) -> None:
        over = None if node.over is None else self._eval(node.over, frame)
        frame.loops += 1
        before = dict(frame.scope.names)
        for _ in range(2):
            if node.target is not None and over is not None:
                element = self._moved(elements(over), node.at, frame)
                self._store(node.target, element, frame, fresh=True)
            self._block(node.body, frame)
        frame.loops -= 1
        for name, value in before.items():
            after = frame.scope.names.get(name, value)
            if after is not value:
                frame.scope.names[name] = join((value, after))

    def _class(self, node: ir.Class, frame: Frame) -> None:
        klass = self._classes.get(id(node))
        if klass is None or klass.scope.outer is not frame.scope:
            bases = [self._eval(base, frame).shape for base in node.bases]
            scope = Scope(frame.scope.module, outer=frame.scope)
            klass = Klass(node, scope, tuple(base for base in bases if isinstance(base, Klass)))
            self._classes[id(node)] = self._klasses[id(scope)] = klass
        frame.scope.names[node.name] = Value(shape=klass)
        self._block(node.body, Frame(klass.scope, frame.fixed))

    def _import(self, node: ir.Import, frame: Frame) -> Value:
        whole_name = node.module if node.member is None else f"{node.module}.{node.member}"
        module = self._tree.find(whole_name, frame.scope.module)
        if module is not None:
            return Value(shape=Space(self._space(module)))
        module = self._tree.find(node.module, frame.scope.module)
        if module is None or node.member is None:
            return Value(shape=Foreign(whole_name.removesuffix(".default")))
        member = module.exports.get(node.member, node.member)
        return self._space(module).names.get(member, CLEAN)

    def _grow(self, node: ir.Grow, frame: Frame) -> None:
        old, new = self._eval(node.target, frame), self._eval(node.value, frame)
        if isinstance(node.value, ir.Const) and not isinstance(node.value.value, str):
            if self._depth(node.target, frame) == PERSISTENT and not frame.fixed:
                counted = self._taint(COUNTER, node.at, frame)
                self._store(node.target, Value(old.taints | {counted}), frame)
            return
        new = self._moved(self._accumulated(new, node.target, frame), node.at, frame)
        if isinstance(old.shape, Array):
            kept = self._depth(node.target, frame) == PERSISTENT
            made = chained((old, _said_once(new) if kept else new))
        elif isinstance(new.shape, Text) or isinstance(old.shape, Text):
            made = text((old, new))
        elif isinstance(old.shape, Record):
            made = merged((old, new))
        else:
            made = union((old, new))
        self._store(node.target, made, frame)

    # Names and places

    def _depth(self, target: ir.Expr, frame: Frame) -> int:
        """How many loops deep the target was bound; PERSISTENT where it outlives the call."""
        match target:
            case ir.Name(id=name) if name not in frame.scope.shared and name in frame.scope.names:
                return PERSISTENT if frame.scope.outer is None else frame.scope.depths.get(name, 0)
            case ir.Index(of=of):
                return self._depth(of, frame)
            case _:
                return PERSISTENT

    def _accumulated(self, value: Value, target: ir.Expr, frame: Frame) -> Value:
        """Of what is added to something that is older than this round of the loop."""
        return whole(value) if max(self._depth(target, frame), 0) < frame.loops else value

    def _store(self, target: ir.Expr, value: Value, frame: Frame, *, fresh: bool = False) -> None:
        match target:
            case ir.Name(id=name):
                scope = frame.scope
                if name in scope.shared:
                    outer = scope.outer.find(name) if scope.outer else None
                    if outer is not None:
                        outer.names[name] = join((outer.names[name], value))
                    return
                scope.names[name] = value
                if fresh:
                    scope.depths[name] = frame.loops
            case ir.Attr(of=of, name=name):
                holder = self._eval(of, frame)
                if isinstance(holder.shape, Object):
                    value = value.only(hopped)
                    kept = holder.shape.klass.attributes
                    kept[name] = join((kept[name], value)) if name in kept else value
                elif isinstance(holder.shape, Record):
                    self._store(of, merged((holder, record([(name, value)]))), frame)
            case ir.Index(of=of, key=key):
                self._store(of, self._put(self._eval(of, frame), key, value, target, frame), frame)
            case ir.Items(items=items):
                self._unpack(items, value, frame)
            case ir.Entries(entries=entries):
                for entry, inner in entries:
                    name_ = entry.value if isinstance(entry, ir.Const) else None
                    self._store(inner, self._part(value, str(name_)), frame, fresh=True)
            case ir.Spread(of=of):
                self._store(of, value, frame, fresh=True)
            case ir.Bind(target=of, value=default):
                self._store(of, join((value, self._eval(default, frame))), frame, fresh=True)
            case _:
                self._eval(target, frame)

    def _put(
        self, holder: Value, key: ir.Expr | None, value: Value, target: ir.Expr, frame: Frame
    ) -> Value:
        index = key.value if isinstance(key, ir.Const) else None
        if isinstance(holder.shape, Array) and isinstance(index, int):
            items = list(holder.shape.items)
            if -len(items) <= index < len(items):
                items[index] = Item(value)
                return array(items)
        if isinstance(index, str):
            return merged((holder, record([(index, value)])))
        named = Value() if key is None else self._eval(key, frame)
        added = self._accumulated(union((named, value)), target, frame)
        rest = record([], added)
        return (
            merged((holder, rest)) if isinstance(holder.shape, Record) else union((holder, added))
        )

    def _unpack(self, targets: Sequence[ir.Expr], value: Value, frame: Frame) -> None:
        items = value.shape.items if isinstance(value.shape, Array) else ()
        exact = len(items) == len(targets) and not any(item.many for item in items)
        for number, target in enumerate(targets):
            part = items[number].value if exact else elements(value)
            self._store(target, part, frame, fresh=True)

    def _part(self, value: Value, name: str) -> Value:
        if isinstance(value.shape, Record):
            return value.shape.get(name) or CLEAN
        return value.plain

    # Expressions

    def _eval(self, node: ir.Expr, frame: Frame) -> Value:
        match node:
            case ir.Const(value=str() as literal):
                return text([literal])
            case ir.Const():
                return CLEAN
            case ir.Name(id=name):
                scope = frame.scope.find(name)
                return Value(shape=Foreign(name)) if scope is None else scope.names[name]
            case ir.Attr(of=of, name=name):
                return self._attribute(self._eval(of, frame), name, node, frame)
            case ir.Index(of=of, key=key):
                return self._index(self._eval(of, frame), key, node, frame)
            case ir.Spread(of=of):
                return self._eval(of, frame)
            case ir.Call():
                return self._call(node, frame)
            case ir.Joined(parts=parts):
                return text(self._printed(self._eval(part, frame), part, frame) for part in parts)
            case ir.Binary():
                return self._binary(node, frame)
            case ir.Items():
                return self._items(node, frame)
            case ir.Entries(entries=entries):
                return self._entries(entries, frame)
            case ir.Each():
                return self._each(node, frame)
            case ir.Either(options=options):
                values = [(option, self._eval(option, frame)) for option in options]
                kept = [value for option, value in values if not isinstance(option, ir.Opaque)]
                return join(kept) if kept else CLEAN
            case ir.Opaque(parts=parts):
                for part in parts:
                    self._eval(part, frame)
                return CLEAN
            case ir.Bind(target=target, value=value):
                got = self._moved(self._eval(value, frame), node.at, frame)
                self._store(target, got, frame)
                return got
            case ir.Function():
                closure = Closure(node, frame.scope)
                self._closures[id(node)] = closure
                return Value(shape=closure)
            case _:
                raise AssertionError(node)

    def _attribute(self, holder: Value, name: str, node: ir.Expr, frame: Frame) -> Value:
        match holder.shape:
            case Object(klass):
                kept, own = klass.kept(name), klass.get(name)
                if own is not None and isinstance(own.shape, Closure):
                    return self._bound(own.shape, holder, frame)
                either = [each for each in (kept, own) if each is not None]
                if either:
                    return join(either)
                return self._foreign_attribute(holder, name, node, frame)
            case Klass() as klass:
                own = klass.get(name)
                if own is None:
                    return self._foreign_attribute(holder, name, node, frame)
                if (
                    isinstance(own.shape, Closure)
                    and "classmethod" in own.shape.function.decorators
                ):
                    return self._bound(own.shape, holder, frame)
                return own
            case Space(scope):
                return scope.names.get(scope.module.exports.get(name, name), CLEAN)
            case Record() as fields if (found := fields.get(name)) is not None:
                return found
            case _:
                return self._foreign_attribute(holder, name, node, frame)

    def _foreign_attribute(self, holder: Value, name: str, node: ir.Expr, frame: Frame) -> Value:
        path = holder.shape.name if isinstance(holder.shape, Foreign) else "*"
        cause = foreign.attribute(f"{path}.{name}", self._language(frame))
        more = NONE if cause is None else {self._taint(cause, node.at, frame)}
        return Value(holder.taints | more, Foreign(f"{path}.{name}"))

    def _bound(self, closure: Closure, holder: Value, frame: Frame) -> Value:
        if "staticmethod" in closure.function.decorators:
            return Value(shape=closure)
        bound = Closure(closure.function, closure.scope, holder)
        if closure.function.decorators & {"property", "cached_property", "get"}:
            return self._invoke(bound, (), {}, frame.fixed)
        return Value(shape=bound)

    def _index(self, holder: Value, key: ir.Expr | None, node: ir.Expr, frame: Frame) -> Value:
        index = None if key is None else self._eval(key, frame)
        name = key.value if isinstance(key, ir.Const) else None
        match holder.shape:
            case Record() as fields if isinstance(name, str):
                return fields.get(name) or CLEAN
            case Array(items) if isinstance(name, int) and not any(i.many for i in items):
                if -len(items) <= name < len(items):
                    return items[name].value
            case Record() as fields if not isinstance(key, ir.Const):
                # What is found by its key is the same in whatever order the keys came.
                return fields.any.only(ordered)
        if key is None:
            return holder
        if isinstance(name, str) and (cause := foreign.header(name)) is not None:
            return Value(holder.taints | {self._taint(cause, node.at, frame)})
        # The first of a listing is whichever comes first.
        got = elements(holder) if name is None else union((holder,))
        drawn = NONE if index is None else frozenset(filter(_chosen, index.taints))
        return Value(got.taints | drawn, got.shape)

    def _binary(self, node: ir.Binary, frame: Frame) -> Value:
        left, right = self._eval(node.left, frame), self._eval(node.right, frame)
        if node.op == "%" and isinstance(left.shape, Text):
            return percent(left, right)
        if node.op == "+":
            if isinstance(left.shape, Array) or isinstance(right.shape, Array):
                return chained((left, right))
            return text((left, right))
        if node.op == "|":
            if isinstance(left.shape, Record) and isinstance(right.shape, Record):
                return merged((left, right))
            filled = foreign.piped(left, right)
            if filled is not None:
                return filled
        return union((left, right))

    def _items(self, node: ir.Items, frame: Frame) -> Value:
        items: list[Item] = []
        own = NONE
        for each in node.items:
            value = self._eval(each, frame)
            if isinstance(each, ir.Spread):
                spread = chained((value,)) if isinstance(value.shape, Array) else None
                own |= whole(value).taints
                inside = None if spread is None else spread.shape
                many = Item(elements(value), many=True)
                items += inside.items if isinstance(inside, Array) else (many,)
            else:
                items.append(Item(value))
        made = array(items, own)
        if node.kind == "set" and len(items) > 1:
            return self._bag(made, node, frame)
        return made

    def _bag(self, value: Value, node: ir.Expr, frame: Frame) -> Value:
        """A set: its order is one of its own, whatever it was."""
        if self._language(frame).ordered_sets:
            return value
        kept = whole(value).only(ordered)
        return Value(kept.taints | {self._taint(BAG, node.at, frame)})

    def _entries(self, entries: Sequence[tuple[ir.Expr | None, ir.Expr]], frame: Frame) -> Value:
        parts: list[Value] = []
        for key, inner in entries:
            value = self._moved(self._eval(inner, frame), inner.at, frame)
            if key is None:
                parts.append(value if value.shape else value.plain)
                continue
            name = constant(self._eval(key, frame))
            known = name is not None
            parts.append(record([(str(name), value)]) if known else record([], value))
        return merged(parts)

    def _each(self, node: ir.Each, frame: Frame) -> Value:
        scope = Scope(frame.scope.module, outer=frame.scope)
        inner = Frame(scope, frame.fixed, frame.loops)
        overs = []
        for target, over in node.loops:
            value = self._eval(over, inner)
            overs.append(value)
            self._store(target, self._moved(elements(value), node.at, frame), inner)
        element = self._eval(node.element, inner)
        if node.kind == "dict":
            key = CLEAN if node.key is None else self._eval(node.key, inner)
            order = whole(union(elements(over) for over in overs)).only(unordered)
            return record([], whole(union((key, element, order))))
        made = element
        order = union(whole(elements(over)).only(unordered) for over in overs)
        result = array([Item(whole(made), many=True)], order.taints)
        return self._bag(result, node, frame) if node.kind == "set" else result

    def _printed(self, value: Value, node: ir.Expr, frame: Frame) -> Value:
        """Within text. An object without a text of its own prints its address."""
        if _prints_address(value) and self._language(frame).prints_addresses:
            return Value(value.taints | {self._taint(foreign.ADDRESS, node.at, frame)})
        return value

    # Calls

    def _call(self, node: ir.Call, frame: Frame) -> Value:
        args = self._args(node.args, frame)
        named = {name: self._eval(value, frame) for name, value in node.named}
        if isinstance(node.callee, ir.Attr):
            receiver = self._eval(node.callee.of, frame)
            callee = self._attribute(receiver, node.callee.name, node.callee, frame)
            if not isinstance(callee.shape, Closure | Klass):
                known = self._method(node.callee, receiver, args, named, frame)
                if known is not None:
                    return known
        else:
            receiver, callee = CLEAN, self._eval(node.callee, frame)
        match callee.shape:
            case Closure() as closure:
                got = self._invoke(closure, args, named, frame.fixed)
                return self._moved(got, node.at, frame)
            case Klass() as klass:
                return self._construct(klass, args, named, frame)
            case _:
                return self._foreign(node, callee, receiver, args, named, frame)

    def _args(self, nodes: Sequence[ir.Expr], frame: Frame) -> tuple[Value, ...]:
        args: list[Value] = []
        for node in nodes:
            value = self._moved(self._eval(node, frame), node.at, frame)
            if isinstance(node, ir.Spread) and isinstance(value.shape, Array):
                args += [item.value for item in value.shape.items]
            else:
                args.append(value)
        return tuple(args)

    def _method(
        self,
        callee: ir.Attr,
        receiver: Value,
        args: Sequence[Value],
        named: dict[str, Value],
        frame: Frame,
    ) -> Value | None:
        known = method(receiver, callee.name)
        if known is None or (
            isinstance(receiver.shape, Foreign)
            and not receiver.taints
            and not any(arg.taints for arg in args)
        ):
            return None
        target = callee.of
        depth = self._depth(target, frame)
        kept = [self._accumulated(arg, target, frame) for arg in args]
        if callee.name in APPENDS and depth == PERSISTENT:
            kept = [_said_once(whole(arg)) for arg in kept]
        call = self._caller(frame)
        outcome = known(Given(receiver, kept, named, call))
        if outcome.receiver is not None and isinstance(target, ir.Name | ir.Attr | ir.Index):
            self._store(target, outcome.receiver, frame)
        return outcome.result

    def _caller(self, frame: Frame) -> Callable[[Value, Sequence[Value]], Value]:
        def call(function: Value, args: Sequence[Value]) -> Value:
            if isinstance(function.shape, Closure):
                return self._invoke(function.shape, args, {}, frame.fixed)
            return union(args)

        return call

    def _construct(
        self, klass: Klass, args: Sequence[Value], named: dict[str, Value], frame: Frame
    ) -> Value:
        made = Value(shape=Object(klass))
        maker = klass.get("__init__") or klass.get("constructor")
        if maker is not None and isinstance(maker.shape, Closure):
            bound = Closure(maker.shape.function, maker.shape.scope, made)
            self._invoke(bound, args, named, frame.fixed)
            return made
        for name, given in named.items():
            kept, value = klass.attributes, given.only(hopped)
            kept[name] = join((kept[name], value)) if name in kept else value
        return made

    def _invoke(
        self,
        closure: Closure,
        args: Sequence[Value],
        named: dict[str, Value],
        fixed: bool,
        *,
        hints: bool | None = None,
    ) -> Value:
        function = closure.function
        args = [_widened(arg) for arg in args]
        named = {name: _widened(arg) for name, arg in named.items()}
        if hints is None:
            self._called.add(id(function))
        if id(function) in self._running or len(self._running) >= MAX_DEPTH:
            return CLEAN
        key = (id(function), id(closure.scope), closure.bound, tuple(args), tuple(named.items()))
        whole_key = (*key, fixed, hints)
        if whole_key not in self._memo:
            if self._bodies >= MAX_BODIES:
                return CLEAN
            self._bodies += 1
            self._running.append(id(function))
            self._memo[whole_key] = self._body(closure, args, named, fixed, bool(hints))
            self._running.pop()
        return self._memo[whole_key]

    def _body(
        self,
        closure: Closure,
        args: Sequence[Value],
        named: dict[str, Value],
        fixed: bool,
        hints: bool,
    ) -> Value:
        function = closure.function
        frame = Frame(Scope(closure.scope.module, outer=closure.scope), fixed)
        self._bind(closure, args, named, frame, hints)
        self._block(function.body, frame)
        if frame.yielded:
            return array(frame.yielded, union(item.value for item in frame.yielded).taints)
        return join(frame.returned) if frame.returned else CLEAN

    def _bind(
        self,
        closure: Closure,
        args: Sequence[Value],
        named: dict[str, Value],
        frame: Frame,
        hints: bool,
    ) -> None:
        names, function = frame.scope.names, closure.function
        params = list(function.params)
        if closure.bound is not None:
            if self._language(frame).explicit_self and params:
                names[params.pop(0).name] = closure.bound
            else:
                names["this"] = closure.bound
        rest = list(args)
        unused = dict(named)
        for param in params:
            if param.kind == "rest":
                value = array(Item(arg) for arg in rest)
                rest = []
            elif param.kind == "named_rest":
                value = record(unused.items())
            elif param.name in unused:
                value = unused.pop(param.name)
            elif rest and param.kind == "plain":
                value = rest.pop(0)
            else:
                value = CLEAN if param.default is None else self._eval(param.default, frame)
                value = Value(
                    value.taints | self._hinted(param, function, frame, hints), value.shape
                )
            names[param.name] = value
            if param.target is not None:
                self._store(param.target, value, frame, fresh=True)

    def _hinted(
        self, param: ir.Param, function: ir.Function, frame: Frame, hints: bool
    ) -> frozenset[Taint]:
        if param.is_set:
            return frozenset({self._taint(BAG, function.at, frame)})
        cause = self._language(frame).parameters.get(param.name) if hints else None
        return NONE if cause is None else frozenset({self._taint(cause, function.at, frame)})

    def _foreign(
        self,
        node: ir.Call,
        callee: Value,
        receiver: Value,
        args: Sequence[Value],
        named: dict[str, Value],
        frame: Frame,
    ) -> Value:
        name = callee.shape.name if isinstance(callee.shape, Foreign) else "*"
        language = self._language(frame)
        path = tuple(part.removesuffix("()") for part in name.split("."))
        said = {name: self._said(name, value) for name, value in named.items()}
        sent = Sent(path, args, said, objects=not language.explicit_self)
        for found in early(sent):
            self._report(found, node, frame)
        made = foreign.Made(name, callee, receiver, args, named, self._caller(frame), node.new)
        for found in foreign.filled(made):
            self._report(found, node, frame)
        if name in language.seeders and args and not args[0].taints:
            self._seeded.add(frame.scope.module.path)
        cause = foreign.cause(made, language)
        if cause in {CHANCE, DRAWN} and frame.scope.module.path in self._seeded:
            cause = None
        own = NONE if cause is None else {self._taint(cause, node.at, frame)}
        if foreign.makes_a_set(made, language):
            return self._bag(foreign.result(made, language), node, frame)
        mutated = foreign.shuffled(made, language)
        if mutated is not None and node.args:
            shuffled = Value(args[0].taints | {self._taint(mutated, node.at, frame)}, args[0].shape)
            self._store(node.args[0], shuffled, frame)
        if answers(sent):
            # What a model says is its own.
            return Value(shape=Foreign(f"{name}()"))
        got = foreign.result(made, language)
        return Value(got.taints | own, got.shape)

    def _said(self, name: str, value: Value) -> Value:
        """A function that is given for a prompt is asked for it at each run."""
        if name in SYSTEM_NAMES and isinstance(value.shape, Closure):
            return self._invoke(value.shape, (), {}, False)
        return value

    def _report(self, found: Early, node: ir.Expr, frame: Frame) -> None:
        sink = self._step(node.at, frame)
        for taint in found.taints:
            if frame.fixed:
                # The prompt is sent as the module runs: each run is a request of its own.
                taint = replace(taint, fixed=False)
            if not taint.element:
                key = (taint.cause.code, taint.source, found.part.partition("[")[0], sink.where)
                self._hits.setdefault(key, Hit(taint, found.part, sink))

    # Steps and taints

    def _language(self, frame: Frame) -> Language:
        return self._tree.language(frame.scope.module)

    def _step(self, at: ir.At, frame: Frame) -> Step:
        module = frame.scope.module
        line = module.lines[at.line - 1].strip() if at.line <= len(module.lines) else ""
        cut = line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"
        return Step(Place(module.path, at.line, at.column), cut)

    def _moved(self, value: Value, at: ir.At, frame: Frame) -> Value:
        """With one more step on the way of its taints."""
        if not value.taints:
            return value
        step = self._step(at, frame)
        return value.tainted(lambda taint: taint.via(step))

    def _taint(self, cause: Cause, at: ir.At, frame: Frame) -> Taint:
        return Taint(cause, self._step(at, frame), fixed=frame.fixed)


def _prints_address(value: Value) -> bool:
    """A list prints its elements."""
    match value.shape:
        case Object(klass):
            return not klass.prints
        case Array(items):
            return any(_prints_address(item.value) for item in items)
        case _:
            return False


def _said_once(value: Value) -> Value:
    """What is added to a conversation that outlives the call stays as it was said."""
    items = value.shape.items if isinstance(value.shape, Array) else (Item(value),)
    said = role(value) is not None or any(role(item.value) is not None for item in items)
    return value.only(foreign.nothing) if said else value


def _chosen(taint: Taint) -> bool:
    """What a list is indexed with matters where it is drawn; a lookup by id finds what is there."""
    return taint.cause.code in {CHANCE.code, COUNTER.code}


def _widened(value: Value) -> Value:
    """An argument without what no rule asks for, so that one run serves many calls."""
    if value.taints:
        return value
    match value.shape:
        case Closure() | Klass() | Object() | Space() | Template():
            return value
        case Array(items) if any(role(item.value) is not None for item in items):
            return value
        case Record(fields) if any(name in SPOKEN for name, _ in fields):
            return value
        case _:
            return CLEAN
