"""The context of a release: what no file tells, answered by its steward in a short questionnaire.

Answers are a TOML file with one text for each question, and thresholds for the risk. A question that is not answered is
printed as open, so that a reviewer sees it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from incrowd.common.records import dataclass
from incrowd.errors import RecipeError, SourceError, did_you_mean

QUESTIONS: Mapping[str, str] = {
    "purpose": "What is the release for?",
    "recipients": "Who gets it: anybody, or named recipients?",
    "agreement": "What did recipients agree to (no attempt to find people, no passing on)?",
    "controls": "Where is it kept and who can reach it (secure room, account, download)?",
    "people": "Who are the people, and are there any who need more protection (children, patients, rare diseases)?",
    "consent": "What were people told, and on which legal ground is it published?",
    "other data": "Which other data about these people can a recipient be expected to have?",
    "harm": "What could happen to somebody who is found in it?",
    "review": "Who reviewed it, and when will it be reviewed again?",
    "breach": "Who is told, and what is done, if somebody is found in it?",
}
THRESHOLDS: Mapping[str, str] = {
    "maximum": "the largest probability with which anybody may be found",
    "average": "the mean probability with which people may be found",
}
_FILE = """# Answers that go into the evidence of a release: incrowd evidence RELEASE --answers FILE
# Leave out what you cannot answer: it is then printed as an open question.

[answers]
{answers}

# The risk that you accept, between 0 and 1. 0.09 is what EMA and Health Canada accept for public documents, 0.05 to
# 0.33 is usual among known recipients.
[thresholds]
# maximum = 0.09
# average = 0.09
"""


@dataclass(frozen=True)
class Context:
    """What a steward answered, and the thresholds that were set."""

    answers: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Context:
        """Read answers from a TOML file."""
        try:
            told = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            raise SourceError(f"{path} is not TOML.  Hint: `incrowd evidence --questions` prints a file.") from None
        return cls(
            _checked(path, told, "answers", QUESTIONS, str), _checked(path, told, "thresholds", THRESHOLDS, float)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return every question with its answer, or none."""
        return {
            "questions": [
                {"key": key, "asks": asks, "answer": self.answers.get(key)} for key, asks in QUESTIONS.items()
            ],
            "open": [key for key in QUESTIONS if key not in self.answers],
        }


def _checked(path: str | Path, told: Mapping[str, Any], section: str, known: Mapping[str, str], kind: type) -> Any:
    found = told.get(section, {})
    if not isinstance(found, dict):
        raise RecipeError(f"{path}: {section} is a table.  Hint: [{section}].")
    for key, value in found.items():
        if key not in known:
            raise RecipeError(f"{path}: there is no '{key}' in [{section}].{did_you_mean(key, tuple(known))}")
        fits = isinstance(value, str) and value.strip() if kind is str else _is_share(value)
        if not fits:
            raise RecipeError(
                f"{path}: {key} in [{section}] is a {'text' if kind is str else 'number above 0 and up to 1'}."
            )
    return {key: kind(found[key]) for key in known if key in found}


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1


def questions_file() -> str:
    """Return a file of all questions, to be answered.

    >>> "[answers]" in questions_file() and "recipients" in questions_file()
    True
    """
    lines = (f'# {asks}\n# {_key(key)} = ""' for key, asks in QUESTIONS.items())
    return _FILE.format(answers="\n".join(lines))


def _key(key: str) -> str:
    return f'"{key}"' if " " in key else key
