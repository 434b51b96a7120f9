"""The rounds, and the parts that run them.

Every function is run on its own, with arguments of which nothing is known, and again at each call
in the tree with what is given there. Two rounds: the first one fills what methods put on objects
and what modules import from each other, the second one reports.
"""

from headstart.insight.lint_code.language import Language
from headstart.insight.lint_code.machine.attributes import Attributes
from headstart.insight.lint_code.machine.budget import Budget
from headstart.insight.lint_code.machine.calls import Calls
from headstart.insight.lint_code.machine.classes import Classes
from headstart.insight.lint_code.machine.expressions import Expressions
from headstart.insight.lint_code.machine.frame import Frame
from headstart.insight.lint_code.machine.functions import Functions
from headstart.insight.lint_code.machine.hits import Hit, Hits
from headstart.insight.lint_code.machine.literals import Literals
from headstart.insight.lint_code.machine.modules import Modules
from headstart.insight.lint_code.machine.outside import Outside
from headstart.insight.lint_code.machine.places import Places
from headstart.insight.lint_code.machine.statements import Statements
from headstart.insight.lint_code.tree import Tree


class Machine:
    """For one set of modules."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.hits = Hits()
        self.too_deep: set[str] = set()
        """Paths of modules with something that is nested too deeply to be followed."""
        self.too_long: set[str] = set()
        """And of those with something that takes too long to be followed."""
        self.budget = Budget()
        self.modules = Modules(self)
        self.classes = Classes(self)
        self.functions = Functions(self)
        self.places = Places(self)
        self.attributes = Attributes(self)
        self.literals = Literals(self)
        self.outside = Outside(self)
        self.calls = Calls(self)
        self.expressions = Expressions(self)
        self.statements = Statements(self)

    def run(self) -> list[Hit]:
        """All hits, in the order in which they were met."""
        for _ in range(2):
            self.functions.forget()
            self.hits.clear()
            self.modules.forget()
            for module in self.tree.modules:
                self.modules.space(module)
            self.functions.all_alone()
        return list(self.hits)

    def language(self, frame: Frame) -> Language:
        """Of the module that runs."""
        return self.tree.language(frame.scope.module)
