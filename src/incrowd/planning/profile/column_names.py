"""What a column holds, judged by its name."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from incrowd.planning.profile.vocabulary import (
    BARE_NAME_WORDS,
    CONCEPTS,
    ID_WORDS,
    NAME_WORDS,
    PERSON_ID,
    PERSON_NAME,
    PERSON_WORDS,
    ROW_NUMBER_WORDS,
    SOME_ID,
    Concept,
)

_CAMEL_CASE = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zß-ÿ])")
# Letters that Unicode does not take apart.
_WITHOUT_PARTS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
_LONGEST_LABEL, _AS_SHORT_AS_A_NAME = 12, 4
COUNTING_WORDS = frozenset(("number", "no", "nr", "count", "anzahl", "zahl", "nombre", "numero", "liczba", "aantal"))
OF_WORDS = frozenset(("of", "der", "von", "de", "di", "do", "da", "van", "d"))
_WORD = re.compile(r"[^\W\d_]+|\d+")


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in lower case and without accents.

    >>> words_of("dateOfBirth"), words_of("Âge (années)"), words_of("zip5"), words_of("patientID")
    (('date', 'of', 'birth'), ('age', 'annees'), ('zip', '5'), ('patient', 'id'))
    """
    # A name in capitals is one word; one of mixed case has a word for each hump.
    spaced = name if name.isupper() else _CAMEL_CASE.sub(" ", name)
    decomposed = unicodedata.normalize("NFKD", spaced.casefold().translate(_WITHOUT_PARTS))
    return tuple(_WORD.findall("".join(c for c in decomposed if not unicodedata.combining(c))))


def concept_of_name(name: str) -> Concept | None:
    """Return what a column of this name usually holds.

    >>> concept_of_name("Geburtsdatum").key, concept_of_name("zip_code").key, concept_of_name("language").key
    ('birth', 'postal code', 'language')
    >>> concept_of_name("product_name") is None
    True
    """
    words = words_of(name)
    if not words:
        # Row names that were written by R or pandas come under an empty name.
        return SOME_ID if not name.strip() else None
    if _names_a_person(words):
        return PERSON_NAME
    stands_for_person = bool(ID_WORDS & set(words)) and bool(PERSON_WORDS & set(words))
    stands_for_person = stands_for_person or any(_is_number_of_person(word) for word in words)
    concept = _concept_in(words)
    if concept is not None:
        return PERSON_ID if stands_for_person and concept.role != "sensitive" else concept
    if stands_for_person:
        return PERSON_ID
    if ID_WORDS & set(words) or words[-1] in ROW_NUMBER_WORDS or words[0] in ROW_NUMBER_WORDS:
        return SOME_ID
    return None


def concept_of_label(label: str) -> Concept | None:
    """Return what a column holds of which a statistics program's file says this.

    Labels are sentences: what they count is no number of a person, and of a long one only the beginning tells.

    >>> concept_of_label("Respondent's date of birth").key, concept_of_label("Monthly net income in EUR").key
    ('birth', 'money')
    >>> concept_of_label("Number of persons in the household").key, concept_of_label("Patient number").key
    ('family', 'person id')
    """
    words = words_of(label)[:_LONGEST_LABEL]
    counts = bool(COUNTING_WORDS & set(words[:1])) and len(words) > 1 and words[1] in OF_WORDS
    if not counts and len(words) <= _AS_SHORT_AS_A_NAME:
        return concept_of_name(" ".join(words))
    rest = words[2:] if counts else words
    for length in range(1, len(rest) + 1):  # what comes first is what the sentence is about
        if (found := _concept_in(rest[:length])) is not None:
            return found
    return None


def _concept_in(words: tuple[str, ...]) -> Concept | None:
    """Return the first concept that some words speak of; of a word made of several, as in German, the last part does.

    >>> _concept_in(("haushaltsnettoeinkommen",)).key, _concept_in(("haushaltsgrosse",)).key
    ('money', 'family')
    """
    text = f" {' '.join(words)}  {''.join(words)} "
    for concept in CONCEPTS:
        if not _any_of(concept.words).search(text):
            continue
        pattern = next((pattern for pattern in concept.words if _fits(pattern, words)), None)
        if pattern is None:
            continue
        begun = [word for word in words if pattern.endswith("*") and word.startswith(pattern.strip("*"))]
        heads = (other for other in CONCEPTS if any(_ends_with(end, word) for end in other.words for word in begun))
        return next(heads, concept)
    return None


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return what is found in a text where any of some patterns may fit: to try each one takes ten times as long."""
    spelled = sorted({spelling for pattern in patterns for spelling in (pattern, pattern.replace(" ", ""))})
    return re.compile(f" (?:{'|'.join(map(re.escape, spelled))}) ".replace(r"\*", "[^ ]*"))


def _ends_with(pattern: str, word: str) -> bool:
    return pattern.startswith("*") and word.endswith(pattern.strip("*"))


def _names_a_person(words: tuple[str, ...]) -> bool:
    if NAME_WORDS & set(words):
        return True
    others = set(words) - BARE_NAME_WORDS
    return len(others) < len(set(words)) and all(word in PERSON_WORDS or word.isdigit() for word in others)


def _is_number_of_person(word: str) -> bool:
    """Tell whether a word is made of both, as in German: patientennr, kundennummer."""
    return any(word.endswith(number) and word.removesuffix(number) in PERSON_WORDS for number in ID_WORDS)


def _fits(pattern: str, words: tuple[str, ...]) -> bool:
    wanted = pattern.split(" ")
    for start in range(len(words) - len(wanted) + 1):
        if all(_is(want, word) for want, word in zip(wanted, words[start:], strict=False)):
            return True
    together = "".join(wanted)
    return together in words or together == "".join(words)


def _is(pattern: str, word: str) -> bool:
    stem = pattern.strip("*")
    if pattern.startswith("*") and pattern.endswith("*"):
        return stem in word
    if pattern.endswith("*"):
        return word.startswith(stem)
    if pattern.startswith("*"):
        return word.endswith(stem)
    return word == pattern
