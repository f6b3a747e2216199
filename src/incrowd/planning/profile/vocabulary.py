"""What columns about people are called: English, and the basics of German, French, Spanish and Italian.

Words are written without accents. Several words stand for neighbours in a column's name; `*` stands for any beginning
or end of a word. The first concept that fits wins, so the special ones come before the general ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["identifier", "person", "household", "quasi", "sensitive", "drop", "keep", "weight"]


@dataclass(frozen=True)
class Concept:
    """A kind of column, the role it usually has, and what it is called."""

    key: str
    role: Role
    says: str
    """How the reason of a proposal names it."""
    words: tuple[str, ...] = ()


def _words(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


CONCEPTS = (
    # Identifiers: they point at one person on their own.
    Concept(
        "email",
        "identifier",
        "an e-mail address",
        _words("""
        *email*, e mail, mail, mailadresse, courriel, correo, posta elettronica
        """),
    ),
    Concept(
        "phone",
        "identifier",
        "a telephone number",
        _words("""
        *phone*, tel, tel nr, telnr, *telefon*, mobile, mobilnummer, mobil, handy, handynummer, fax,
        faxnummer, cell, movil, cellulare
        """),
    ),
    Concept(
        "network",
        "identifier",
        "a network address",
        _words("""
        ip, ip addr, ipv4, ipv6, ip address, ipaddress, mac address
        """),
    ),
    Concept(
        "url",
        "identifier",
        "a web address",
        _words("""
        url, uri, website, web site, homepage, web page
        """),
    ),
    Concept(
        "address",
        "identifier",
        "a street address",
        _words("""
        street*, *strasse, address, address line, adresse, anschrift, hausnummer, house number, house no,
        rue, calle, direccion, domicilio, indirizzo, via
        """),
    ),
    Concept(
        "official number",
        "identifier",
        "a number that stands for one person",
        _words("""
        ssn, social security*, sozialversicherungsnummer, svnr, sv nummer, nir, numero de securite sociale,
        dni, nif, nie, codice fiscale, tax id, tax number, tin, steuernummer, steuer id, steuerid,
        passport*, reisepass*, ausweis*, pasaporte, passaporto, driver license*, drivers license*, driving
        licence*, fuhrerschein*, iban, account number, account no, kontonummer, konto nr, credit card*, card
        number, mrn, medical record number, record number, insurance number, insurance id, policy number,
        versichertennummer, versicherungsnummer, nhs, nhs number, license plate, licence plate, kennzeichen,
        vin, imei, device id, username, user name, benutzername, login, password*, passwort, serial number,
        biometric*, fingerprint*, photo, foto, signature, unterschrift
        """),
    ),
    # Origin comes before birth and names: a place of birth is neither a date nor a name.
    Concept(
        "origin",
        "quasi",
        "where a person comes from",
        _words("""
        birth place, birthplace, place of birth, country of birth, birth country, geburtsort, geburtsland,
        lieu de naissance, pays de naissance, lugar de nacimiento, pais de nacimiento, luogo di nascita,
        paese di nascita, national*, citizenship, staatsangehorigkeit, staatsburgerschaft, herkunft*,
        country*, land, pays, pais, paese, nacionalidad, nazionalita, cittadinanza, ciudadania, immigra*,
        migration*
        """),
    ),
    Concept(
        "body",
        "quasi",
        "the body, which others can see",
        _words("""
        birth weight, birth length, geburtsgewicht
        """),
    ),
    Concept(
        "birth",
        "quasi",
        "the date or year of birth",
        _words("""
        dob, date of birth, birthdate*, birthday*, birth, birthyear, born, yob, geburtsdatum, geburtstag,
        geburtsjahr, gebdat, geb dat, geb datum, date de naissance, naissance, annee de naissance, fecha de
        nacimiento, nacimiento, data di nascita, nascita
        """),
    ),
    # Who someone is, where they live, what they do: what neighbours, colleagues and registers know.
    Concept(
        "age",
        "quasi",
        "the age",
        _words("""
        age, ages, alter, alter in jahren, lebensalter, altersgruppe, agegroup, ageband, agerange, edad, eta, anni
        """),
    ),
    Concept(
        "sex",
        "quasi",
        "the sex or gender",
        _words("""
        sex, gender, geschlecht, sexe, genre, sexo, genero, sesso, genere
        """),
    ),
    Concept(
        "race",
        "quasi",
        "race or ethnicity",
        _words("""
        race, races, ethnic*, ethnie, rasse, raza, etnia, razza, hautfarbe, skin color, skin colour, tribe,
        caste
        """),
    ),
    Concept(
        "postal code",
        "quasi",
        "a postal code",
        _words("""
        zip, zips, zipcode, zip code, postal*, postcode, post code, plz, postleitzahl, code postal,
        codepostal, cp, codigo postal, codice postale, cap
        """),
    ),
    Concept(
        "coordinate",
        "quasi",
        "a place on the map",
        _words("""
        lat, latitude, lon, lng, longitude, breitengrad, langengrad, laengengrad, latitud, longitud,
        latitudine, longitudine, gps*, coordinat*, koordinat*, geolocation, geo location
        """),
    ),
    Concept(
        "place",
        "quasi",
        "a place of residence",
        _words("""
        city, town, village, municipality, county, state, province, region*, district, borough, canton,
        kanton, bundesland, landkreis, gemeinde, ort, wohnort, stadt, ville, commune, departement, ciudad,
        municipio, provincia, comune, citta, regione, residence, neighborhood, neighbourhood, census tract,
        fips, nuts, place, location, hospital*, clinic*, klinik*, ward, station
        """),
    ),
    Concept(
        "education",
        "quasi",
        "the education",
        _words("""
        educat*, school*, degree, *bildung*, schulabschluss, abschluss, diploma*, diplome, niveau d etudes,
        etudes, educacion, estudios, istruzione, titolo di studio, qualification*, major
        """),
    ),
    Concept(
        "family",
        "quasi",
        "the family",
        _words("""
        marital*, married, marriage, civil status, relationship, familienstand, etat civil, situation
        familiale, estado civil, stato civile, family status, family size, children, kids, kinder,
        kinderzahl, enfants, hijos, figli, household*, haushalt*, dependents, dependants, siblings
        """),
    ),
    # Money and health before work, since "employment income" is money and "job stress" may be health.
    Concept(
        "money",
        "sensitive",
        "money",
        _words("""
        salar*, income*, wage*, earning*, capital gain*, capital loss*, debt*, loan*, mortgage*, bonus*, net
        worth, wealth, credit*, balance, gehalt*, lohn, lohne, stundenlohn, *einkommen*, verdienst,
        vermogen, schulden, salaire*, revenu, revenus, salario, salarios, sueldo, ingresos, renta,
        stipendio, reddito, compensation
        """),
    ),
    Concept(
        "insurance",
        "quasi",
        "the insurance",
        _words("""
        insurance*, insurer, *versicherung, krankenkasse, assurance*, seguro, assicurazione, payer
        """),
    ),
    Concept(
        "health",
        "sensitive",
        "health",
        _words("""
        diagnos*, disease*, illness*, sickness*, icd*, condition, conditions, symptom*, medication*,
        medicine*, drug*, treatment*, therap*, procedure*, comorbid*, hiv*, aids, cancer*, tumor*, tumour*,
        allerg*, disorder*, surger*, hba1c, glucose, cholesterol, blood*, disab*, mental*, pregnan*,
        genotype*, genetic*, mutation*, vaccin*, cause of death, smok*, alcohol*, heart rate, pulse, puls,
        systol*, diastol*, hemoglobin*, creatinin*, krankheit*, befund*, behandlung*, medikament*, maladie*,
        traitement*, enfermedad*, diagnostico, tratamiento*, malattia, malattie, patologia*, farmaco,
        farmaci, behinderung*, handicap*, discapacidad
        """),
    ),
    Concept(
        "belief",
        "sensitive",
        "belief or private life",
        _words("""
        religio*, faith, belief*, konfession*, glaube, politic*, political party, partei, vote, voted,
        voting*, trade union, union member*, gewerkschaft*, sexual*, sexuelle*, orientation sexuelle,
        orientacion sexual
        """),
    ),
    Concept(
        "justice",
        "sensitive",
        "a criminal record",
        _words("""
        crime*, criminal*, offence*, offense*, conviction*, arrest*, vorstrafe*, sentence*, prison*, casier
        judiciaire
        """),
    ),
    Concept(
        "result",
        "sensitive",
        "a grade or rating",
        _words("""
        grade, grades, gpa, score, scores, exam*, test result*, rating, performance, schulnote, zensur
        """),
    ),
    Concept(
        "work",
        "quasi",
        "the work",
        _words("""
        occupation*, job*, profession*, beruf*, metier, ocupacion, profesion, professione, lavoro,
        workclass, work class, employ*, company, firma, arbeitgeber, arbeit, industry, branche, department,
        abteilung, position, stellung, rank, hours per week, work hours, working hours, arbeitszeit,
        military*, veteran*
        """),
    ),
    Concept(
        "language",
        "quasi",
        "the language",
        _words("""
        language*, sprache, muttersprache, mother tongue, langue, idioma, lingua
        """),
    ),
    # "weight" alone is a body's; the weights of surveys have names of their own.
    Concept(
        "survey weight",
        "weight",
        "a survey's weight",
        _words("""
        fnlwgt, final weight, finalweight, wgt, survey weight, sampling weight, sample weight, person
        weight, household weight, pweight, perwt, hhwt, gewichtung*, ponderation, pond, pondera*, expansion
        factor, factor de expansion, factor expansion, hochrechnung*, wgt*, *wgt
        """),
    ),
    Concept(
        "body",
        "quasi",
        "the body, which others can see",
        _words("""
        height, weight, bmi, body*, grosse, groesse, korpergrosse, koerpergroesse, gewicht, korpergewicht,
        taille, poids, altura, estatura, peso, altezza, eye color, eye colour, hair color, hair colour,
        augenfarbe, haarfarbe
        """),
    ),
    Concept(
        "free text",
        "drop",
        "free text",
        _words("""
        note, notes, comment*, remark*, description, free text, freetext, text, bemerkung*, anmerkung*,
        kommentar*, notiz*, notizen, freitext, commentaire*, remarque*, observacion*, comentario*, nota,
        osservazion*, narrative, memo, anamnes*, message, messages, feedback
        """),
    ),
)

PERSON_NAME = Concept("person name", "identifier", "the name of a person")
PERSON_ID = Concept("person id", "identifier", "a number or code for one person")
SOME_ID = Concept("some id", "identifier", "a number or code")
EVENT_DATE = Concept("event date", "quasi", "a date that others may know")

BY_KEY = {concept.key: concept for concept in (*CONCEPTS, PERSON_NAME, PERSON_ID, SOME_ID, EVENT_DATE)}

NAME_WORDS = frozenset(
    _words("""
    surname, firstname, lastname, forename, fullname, familyname, givenname, middlename, maidenname,
    nachname, vorname, familienname, zuname, geburtsname, rufname, prenom, apellido, apellidos, cognome,
    nombres, initials, initialen, nickname
    """)
)
"""A column with one of these words in its name holds names of people, or parts of them."""

BARE_NAME_WORDS = frozenset(
    _words("""
    name, names, nom, noms, nombre, nome
    """)
)
"""These words do so too, alone or next to a person; a product has a name as well."""

PERSON_WORDS = frozenset(
    _words("""
    patient, patients, patienten, person, persons, personal, personen, people, client, clients, customer,
    kunde, kunden, user, users, benutzer, member, mitglied, employee, mitarbeiter, worker, staff, student,
    students, schuler, pupil, subject, subjekt, participant, respondent, teilnehmer, proband, resident,
    tenant, citizen, burger, contact, mother, father, parent, spouse, child, doctor, physician, arzt, nurse,
    teacher, owner, holder, cliente, clienti, usuario, utente, paciente, paziente, persona, personne,
    employe, empleado, first, last, middle, full, family, given, maiden, legal, birth, case, fall, individual,
    applicant, donor, victim, driver, voter
    """)
)

ID_WORDS = frozenset(
    _words("""
    id, ids, uid, uuid, guid, pid, identifier, identification, kennung, nummer, nr, no, number, num, numero,
    key, ref, reference, code, codes, schlussel, identifiant, identificador, identificativo, token, hash
    """)
)

HOUSEHOLD_WORDS = frozenset(
    _words("""
    household, households, hh, hhid, hid, haushalt, haushalts, haushalte, menage, menages, foyer, hogar, hogares,
    famiglia, familia, familie, family, families, dwelling, domicile
    """)
)
"""A column of numbers or codes with one of these words in its name tells who lives together."""

ROW_NUMBER_WORDS = frozenset(
    _words("""
    index, idx, row, rowid, rownum, rownumber, unnamed, lfd, obs, observation, sequence, seq
    """)
)
