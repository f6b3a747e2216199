"""Dataclasses whose methods are made when they are first used.

The standard library writes and compiles the methods of a dataclass where the class is defined: for some hundred classes
on the way to one publication, which uses a few of them. That was half of what it takes to import incrowd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    import sys
    from threading import RLock
    from types import FunctionType

    _LOCK = RLock()  # two threads may ask for the same class; and to make one makes those that it is based on
    _OF_ALL = ["__dataclass_fields__", "__dataclass_params__", "__match_args__"]
    if sys.version_info >= (3, 13):
        _OF_ALL.append("__replace__")
    _CAN_WAIT = hasattr(dataclasses, "_set_new_attribute")
    """Whether this Python gives a class its methods by the function that this module takes them from."""

    def dataclass(cls=None, /, *, init=True, repr=True, eq=True, frozen=False, **others):
        """Do what `dataclasses.dataclass` does, with the same arguments, when something asks for what it adds.

        A mistake in the fields is told at the first use, too, and not where the class is defined.
        """

        def decorate(cls):
            asked = {"init": init, "repr": repr, "eq": eq, "frozen": frozen}
            if others or not _CAN_WAIT or _is_changed_itself(cls):
                return dataclasses.dataclass(cls, **asked, **others)
            added = {"__init__": init, "__repr__": repr, "__eq__": eq, "__setattr__": frozen, "__delattr__": frozen}
            making = _Making(cls, asked)
            for name in _OF_ALL + [name for name, is_asked in added.items() if is_asked]:
                if name not in vars(cls):
                    setattr(cls, name, _Later(making, name))
            if eq and vars(cls).get("__hash__") is None:
                cls.__hash__ = _Later(making, "__hash__") if frozen else None
            return cls

        return decorate if cls is None else decorate(cls)

    def _is_changed_itself(cls):
        """Whether the class is to be another one before any use: with a text, with defaults, without a hash."""
        own = vars(cls)
        if not cls.__doc__ or ("__hash__" in own and own["__hash__"] is None and "__eq__" not in own):
            return True
        fields = [value for value in own.values() if isinstance(value, dataclasses.Field)]
        return any(one.default is not dataclasses.MISSING for one in fields)

    class _Making:
        """A dataclass that is still to be made, and how it is asked for."""

        def __init__(self, cls, asked):
            self.cls, self.asked = cls, asked
            self.is_made = False

        def make(self):
            """Make the class, if nothing has done so. Who uses it meanwhile waits, in place of finding half of it."""
            with _LOCK:
                if self.is_made:
                    return
                later = {name: one for name, one in vars(self.cls).items() if isinstance(one, _Later)}
                made = {}

                def take(cls, name, value):
                    if cls is not self.cls or name not in later:
                        return put(cls, name, value)
                    if isinstance(value, FunctionType):
                        value.__qualname__ = f"{cls.__qualname__}.{value.__name__}"
                    made[name] = value
                    return False

                put = dataclasses._set_new_attribute
                dataclasses._set_new_attribute = take
                try:
                    if "__hash__" in later:
                        self.cls.__hash__ = None  # as if only `__eq__` stood there
                    dataclasses.dataclass(self.cls, **self.asked)
                except BaseException:  # the next use is to tell the same
                    for name, one in later.items():
                        setattr(self.cls, name, one)
                    raise
                finally:
                    dataclasses._set_new_attribute = put
                # What makes instances comes last: before it there is none that could ask for the rest.
                for name in sorted(made, key=lambda name: name == "__init__"):
                    setattr(self.cls, name, made[name])
                self.is_made = True

    class _Later:
        """Stands for an attribute of a dataclass that is still to be made."""

        def __init__(self, making, name):
            self._making, self._name = making, name

        def __get__(self, instance, owner=None):
            self._making.make()
            found = vars(self._making.cls).get(self._name, self)
            if found is self:  # this Python does not add it, or the class is being made just now
                raise AttributeError(self._name)
            get = getattr(type(found), "__get__", None)
            return found if get is None else get(found, instance, owner)
