"""An object can be held in the head: few ancestors of ours, few methods, inherited ones included."""

from rules.package import ancestors_of, methods_of, own_classes

MOST_ANCESTORS = 3
MOST_METHODS = 60


def test_no_class_has_many_ancestors() -> None:
    assert [str(own) for own in own_classes() if len(ancestors_of(own)) > MOST_ANCESTORS] == []


def test_no_object_has_many_methods() -> None:
    assert [str(own) for own in own_classes() if len(methods_of(own)) > MOST_METHODS] == []
