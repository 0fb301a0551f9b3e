"""The accepted prompt's phrases, for a rater who wants them highlighted while reading."""

from workbench.domain.actors import Actor, Role
from workbench.errors import NotFoundError
from workbench.text.phrases import PhraseFinder
from workbench.workflow.prompts import find_revision
from workbench.workflow.study import Study

_FINDERS: dict[str, PhraseFinder[str]] = {}  # by prompt: what a prompt's phrases are never changes


def phrases(study: Study, actor: Actor) -> PhraseFinder[str] | None:
    """Return what finds the phrases that name findings in the accepted prompt, None before one is accepted.

    They come from the guidance alone: no labeler's output is in them (method 6).
    """
    actor.require(Role.RATER, to="highlight phrases while rating")
    try:
        prompt = find_revision(study).prompt
    except NotFoundError:
        return None
    if prompt.hash not in _FINDERS:
        guided = prompt.guidance.findings
        _FINDERS[prompt.hash] = PhraseFinder((text, finding) for finding in guided for text in guided[finding].synonyms)
    return _FINDERS[prompt.hash]
