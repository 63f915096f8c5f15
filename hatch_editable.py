"""`nearhit/__init__.py` of an editable install: `nearhit.gateway` is the repository's `gateway`.

Extensions import Nearhit by the names that a wheel has. Either name gives one and the same module,
so an `Extension` is what the gateway takes for one.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Repository(MetaPathFinder, Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        is_repository = name.startswith("nearhit.") and name != "nearhit.__main__"
        return ModuleSpec(name, self) if is_repository else None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(name.removeprefix("nearhit."))


sys.meta_path.insert(0, _Repository())
