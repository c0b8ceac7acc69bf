"""Records the names of a client's called methods, and lists the names of all its methods."""

import inspect


def resources_and_methods(value):
    """Returns a client's or a resource's resources and methods, each by name."""
    names = [name for name in dir(value) if not name.startswith("_")]
    parts = {name: getattr(value, name) for name in names}
    resources = {name: part for name, part in parts.items() if type(part).__module__.startswith("spekoai.resources.")}
    return resources, {name: part for name, part in parts.items() if inspect.ismethod(part)}


def methods_of(value, prefix=""):
    """Returns all methods' names. A resource's method has the resource in its name: `agents.tools.list`."""
    resources, methods = resources_and_methods(value)
    inner = [name for key, part in resources.items() for name in methods_of(part, f"{prefix}{key}.")]
    return [f"{prefix}{name}" for name in methods] + inner


class Recorded:
    """Passes each call on to the client. `called` gets each method's name after the method has answered."""

    def __init__(self, value, called, prefix=""):
        self._value, self._called, self._prefix = value, called, prefix

    def __getattr__(self, name):
        resources, methods = resources_and_methods(self._value)
        if name in resources:
            return Recorded(resources[name], self._called, f"{self._prefix}{name}.")
        return self._noting(name, methods[name]) if name in methods else getattr(self._value, name)

    def _noting(self, name, method):
        def call(*arguments, **named):
            answer = method(*arguments, **named)
            self._called.add(f"{self._prefix}{name}")
            return answer

        return call
