"""What columns are taken for, by name alone."""

from __future__ import annotations

import pytest

from incrowd.planning.profile.column_names import concept_of_name, words_of


@pytest.mark.parametrize(
    ("name", "concept"),
    [
        ("E-Mail", "email"),
        ("contact_email", "email"),
        ("Telefonnummer", "phone"),
        ("phone number", "phone"),
        ("IP", "network"),
        ("SSN", "official number"),
        ("medical_record_number", "official number"),
        ("codice fiscale", "official number"),
        ("Straße", "address"),
        ("name", "person name"),
        ("first_name", "person name"),
        ("Nachname", "person name"),
        ("prénom", "person name"),
        ("Apellidos", "person name"),
        ("patient name", "person name"),
        ("patient_id", "person id"),
        ("PatientID", "person id"),
        ("studentNumber", "person id"),
        ("order_number", "some id"),
        ("Unnamed: 0", "some id"),
        ("", "some id"),
        ("dateOfBirth", "birth"),
        ("dateofbirth", "birth"),
        ("Geburtsdatum", "birth"),
        ("fecha de nacimiento", "birth"),
        ("birth_weight", "body"),
        ("birth_place", "origin"),
        ("native-country", "origin"),
        ("age", "age"),
        ("Âge", "age"),
        ("Alter", "age"),
        ("Geschlecht", "sex"),
        ("sesso", "sex"),
        ("ethnicity", "race"),
        ("zip_code", "postal code"),
        ("PLZ", "postal code"),
        ("code postal", "postal code"),
        ("lat", "coordinate"),
        ("city_name", "place"),
        ("education-num", "education"),
        ("Familienstand", "family"),
        ("estado civil", "family"),
        ("Beruf", "work"),
        ("hours-per-week", "work"),
        ("salaire", "money"),
        ("capital-gain", "money"),
        ("icd10_code", "health"),
        ("Diagnose", "health"),
        ("HbA1c", "health"),
        ("religion", "belief"),
        ("fnlwgt", "survey weight"),
        ("weight_kg", "body"),
        ("Bemerkungen", "free text"),
    ],
)
def test_a_name_says_what_its_column_holds(name: str, concept: str) -> None:
    found = concept_of_name(name)
    assert found is not None
    assert found.key == concept


@pytest.mark.parametrize(
    "name", ["product_name", "package", "trace", "flat", "status", "temperature", "x", "admission", "tip", "株価"]
)
def test_words_inside_of_words_say_nothing(name: str) -> None:
    assert concept_of_name(name) is None


def test_language_is_not_age_and_a_country_code_is_not_an_identifier() -> None:
    assert [concept_of_name(name).key for name in ("language", "country_code")] == ["language", "origin"]  # type: ignore[union-attr]


def test_capitals_are_one_word_and_humps_are_several() -> None:
    assert words_of("SSN") == ("ssn",)
    assert words_of("customerSSNValue") == ("customer", "ssn", "value")
