"""What columns about people are called: English, and the basics of German, French, Spanish, Italian, Portuguese, Dutch
and Polish, with a few Nordic words.

Words are written without accents. Several words stand for neighbours in a column's name; `*` stands for any beginning
or end of a word. The first concept that fits wins, so the special ones come before the general ones.
"""

from __future__ import annotations

from typing import Literal

from incrowd.common.records import dataclass

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
        *email*, e mail, mail, mailadresse, courriel, correo, posta elettronica, correo electronico,
        adres e mail, poczta elektroniczna, epost
        """),
    ),
    Concept(
        "phone",
        "identifier",
        "a telephone number",
        _words("""
        *phone*, tel, tel nr, telnr, *telefon*, mobile, mobilnummer, mobil, handy, handynummer, fax,
        faxnummer, cell, movil, cellulare, *telefono*, telefone, telemovel, celular, telefoon, mobiel,
        mobiele nummer, komorka, nr telefonu, portable, gsm
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
        street*, *strasse, address, address line, adresse, anschrift, hausnummer, house number, house
        no, rue, calle, direccion, domicilio, indirizzo, via, via e numero, endereco, morada, rua,
        logradouro, straat, huisnummer, adres, ulica, nr domu, numero civico, gata
        """),
    ),
    Concept(
        "official number",
        "identifier",
        "a number that stands for one person",
        _words("""
        ssn, social security*, sozialversicherungsnummer, svnr, sv nummer, nir, numero de securite
        sociale, dni, nif, nie, codice fiscale, tax id, tax number, tin, steuernummer, steuer id,
        steuerid, passport*, reisepass*, ausweis*, pasaporte, passaporto, driver license*, drivers
        license*, driving licence*, fuhrerschein*, iban, account number, account no, kontonummer, konto
        nr, credit card*, card number, mrn, medical record number, record number, insurance number,
        insurance id, policy number, versichertennummer, versicherungsnummer, nhs, nhs number, license
        plate, licence plate, kennzeichen, vin, imei, device id, username, user name, benutzername,
        login, password*, passwort, serial number, biometric*, fingerprint*, photo, foto, signature,
        unterschrift, numero secu, nss, curp, rfc, cuil, seguridad social, cpf, cnpj, rg, cartao
        cidadao, bsn, burgerservicenummer, rekeningnummer, pesel, nip, nr dowodu, dowod osobisty, numero
        de conta, numero de cuenta, numero carta, tessera sanitaria, ahv*, avs, personnummer,
        kundenkonto, steueridentifikationsnummer, krankenversichertennummer, nr utente, student number,
        employee number, badge*, biobank*, sample barcode, barcode, account id
        """),
    ),
    # Origin comes before birth and names: a place of birth is neither a date nor a name.
    Concept(
        "origin",
        "quasi",
        "where a person comes from",
        _words("""
        birth place, birthplace, place of birth, country of birth, birth country, geburtsort,
        geburtsland, lieu de naissance, pays de naissance, lugar de nacimiento, pais de nacimiento,
        luogo di nascita, paese di nascita, national*, citizenship, staatsangehorigkeit,
        staatsburgerschaft, herkunft*, country*, land, pays, pais, paese, nacionalidad, nazionalita,
        cittadinanza, ciudadania, immigra*, migration*, geboorteplaats, geboorteland, nationaliteit,
        afkomst, herkomst, miejsce urodzenia, kraj urodzenia, kraj, obywatelstwo, narodowosc,
        nacionalidade, naturalidade, pais de nascimento, lugar nacimiento, nationalite, origine, luogo
        nascita, homeland, origin, citizen*, migrant*
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
        dob, date of birth, birthdate*, birthday*, birth, birthyear, born, yob, geburtsdatum,
        geburtstag, geburtsjahr, gebdat, geb dat, geb datum, date de naissance, naissance, annee de
        naissance, fecha de nacimiento, nacimiento, data di nascita, nascita, geboortedatum,
        geboortejaar, geb, data urodzenia, rok urodzenia, urodz*, data de nascimento, nascimento, ano de
        nascimento, nasc, fecha nacimiento, fnac, f nac, nac, date naissance, ddn, ne le, data nascita,
        anno di nascita, annee naissance, fodelsedatum, fodselsdato
        """),
    ),
    # Who someone is, where they live, what they do: what neighbours, colleagues and registers know.
    Concept(
        "age",
        "quasi",
        "the age",
        _words("""
        age, ages, alter, alter in jahren, lebensalter, altersgruppe, agegroup, ageband, agerange, edad,
        eta, anni, leeftijd, leeftijdsgroep, wiek, idade, faixa etaria, grupo de edad, alder, age group,
        tranche d age, fascia di eta, wiek w latach, age years
        """),
    ),
    Concept(
        "sex",
        "quasi",
        "the sex or gender",
        _words("""
        sex, gender, geschlecht, sexe, genre, sexo, genero, sesso, genere, geslacht, plec, anrede,
        salutation, kon, kjonn, civilite, female, male, weiblich, mannlich
        """),
    ),
    Concept(
        "race",
        "quasi",
        "race or ethnicity",
        _words("""
        race, races, ethnic*, ethnie, rasse, raza, etnia, razza, hautfarbe, skin color, skin colour,
        tribe, caste, etniciteit, etniczne, rasa, raca, cor, raca cor, pochodzenie etniczne, skin
        """),
    ),
    Concept(
        "postal code",
        "quasi",
        "a postal code",
        _words("""
        zip, zips, zipcode, zip code, postal*, postcode, post code, plz, postleitzahl, code postal,
        codepostal, cp, codigo postal, codice postale, cap, cep, kod pocztowy, pc4, pc6, zip3, zip5,
        plz5, codigo postal residencia, postnummer, postnr, c p
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
        kanton, bundesland, landkreis, gemeinde, ort, wohnort, stadt, ville, commune, departement,
        ciudad, municipio, provincia, comune, citta, regione, residence, neighborhood, neighbourhood,
        census tract, fips, nuts, place, location, hospital*, clinic*, klinik*, ward, station, cidade,
        bairro, distrito, concelho, freguesia, uf, localidad, localidade, comunidad, comunidad autonoma,
        colonia, woonplaats, provincie, stad, plaats, wijk, buurt, regio, miasto, miejscowosc,
        wojewodztwo, powiat, gmina, dzielnica, quartier, arrondissement, kreis, bezirk, stadtteil,
        ortsteil, quartiere, circoscrizione, block group, tract, area, zone, study site, hopital, ospedale,
        ziekenhuis, szpital, kommun, lan, fylke, parish, suburb, postal town, metro*, msa, puma
        """),
    ),
    Concept(
        "education",
        "quasi",
        "the education",
        _words("""
        educat*, school*, degree, *bildung*, schulabschluss, abschluss, diploma*, diplome, niveau d
        etudes, etudes, educacion, estudios, istruzione, titolo di studio, qualification*, major, niveau
        etudes, nivel de estudios, nivel educativo, nivel estudios, escolaridad, escolaridade, educacao,
        formacion, formacao, opleiding, opleidingsniveau, onderwijs, wyksztalcenie, szkola, klasse,
        class, classe, diplome obtenu, scuola, escuela, escola, hoogst*, grade level, grade year, utbildning,
        year of study, program of study, studiengang, course, curso, faculty, fakultat, year group, jahrgangsstufe,
        jahrgang
        """),
    ),
    Concept(
        "family",
        "quasi",
        "the family",
        _words("""
        marital*, married, marriage, civil status, relationship, familienstand, etat civil, situation
        familiale, estado civil, stato civile, family status, family size, children, kids, kinder,
        kinderzahl, enfants, hijos, figli, household*, haushalt*, dependents, dependants, siblings,
        situation matrimoniale, situation de famille, nb enfants, nombre d enfants, numero de hijos, num
        hijos, numero figli, filhos, num filhos, burgerlijke staat, gezinssamenstelling, aantal
        kinderen, kinderen, stan cywilny, liczba dzieci, dzieci, composizione familiare, estadocivil,
        num children, number of children, family members, living alone, parity
        """),
    ),
    # Money and health before work, since "employment income" is money and "job stress" may be health.
    Concept(
        "money",
        "sensitive",
        "money",
        _words("""
        salar*, income*, wage*, earning*, capital gain*, capital loss*, debt*, loan*, mortgage*, bonus*,
        net worth, wealth, credit*, balance, gehalt*, lohn, lohne, stundenlohn, *einkommen*, verdienst,
        vermogen, schulden, salaire*, revenu, revenus, salario, salarios, sueldo, ingresos, renta,
        stipendio, reddito, compensation, *salary, *income, *wage, payment*, paid, pension*, benefit*,
        assets, asset, savings, spend*, spent, expenditure*, expense*, rent, amount, transaction amount, cost,
        costs, charges, fee, fees, overdraft, default, arrears, tax paid, taxes, price paid, net pay,
        gross pay, pay, bruttolohn, nettolohn, *gehalt, *lohn, rente, miete, kaltmiete, warmmiete,
        kontostand, saldo, umsatz, betrag, kredit*, darlehen, schuldenstand, sparguthaben, verschuldung,
        steuerklasse, bonitat*, scoring, remuneration, dette*, patrimoine, solde, montant, loyer, credit
        restant, epargne, niveau de vie, deuda*, patrimonio, hipoteca, ingreso, ingresos*, importe,
        nomina, alquiler, ahorro*, gastos, debito, debiti, mutuo, affitto, importo, retribuzione, isee,
        renda*, rendimento*, vencimento, divida*, remuneracao, valor pago, inkomen, *inkomen, salaris,
        *salaris, loon, *loon, schuld, uitkering, huur, bedrag, dochod*, zarobki, wynagrodzenie, pensja,
        placa, dlug, kwota, czynsz, zadluzenie, oszczednosci, lon, inkomst, inkomst*, monthly charge*
        """),
    ),
    Concept(
        "insurance",
        "quasi",
        "the insurance",
        _words("""
        insurance*, insurer, *versicherung, krankenkasse, assurance*, seguro, assicurazione, payer,
        verzekering*, zorgverzekeraar, ubezpieczenie*, nfz, mutuelle, aseguradora, plano de saude,
        krankenversicherung
        """),
    ),
    Concept(
        "health",
        "sensitive",
        "health",
        _words("""
        diagnos*, disease*, illness*, sickness*, icd*, condition, conditions, symptom*, medication*,
        medicine*, drug*, treatment*, therap*, procedure*, comorbid*, hiv*, aids, cancer*, tumor*,
        tumour*, allerg*, disorder*, surger*, hba1c, glucose, cholesterol, blood*, disab*, mental*,
        pregnan*, genotype*, genetic*, mutation*, vaccin*, cause of death, smok*, alcohol*, heart rate,
        pulse, puls, systol*, diastol*, hemoglobin*, creatinin*, krankheit*, befund*, behandlung*,
        medikament*, maladie*, traitement*, enfermedad*, diagnostico, tratamiento*, malattia, malattie,
        patologia*, farmaco, farmaci, behinderung*, handicap*, discapacidad, dx, rx, health*, medical
        condition*, medical history, *diagnos*, *disease, infect*, prognos*, depress*, anxiety, suicid*,
        addict*, substance*, viral load, cd4*, asa, stroke, diabet*, hypertens*, asthma*, copd, bp,
        blood pressure, spo2, lab value, lab result*, lab, outcome, mortality, death, died, deceased,
        survival, biopsy, tnm, stage, grading, gesundheit*, *erkrankung*, *krankheit*, krank*,
        medikation, therapie*, blutdruck*, blutgruppe, schwerbehindert*, pflegegrad, pflegestufe, impf*,
        symptome, laborwert*, allergie*, todesursache, sterbe*, raucher*, schwanger*, sucht*, sante,
        etat de sante, pathologie*, medicament*, diagnostic*, antecedents, ald, deces, cause deces,
        grossesse, fumeur, salud, estado de salud, medicamento*, diagnostico*, alergia*, embarazo,
        fumador, motivo de consulta, antecedentes, saude, doenca*, tratamento*, gravidez, fumante,
        obito, cid, cid 10, deficiencia, salute, stato di salute, diagnosi, terapia, terapie, allergia,
        allergie, disabilita, decesso, fumatore, gravidanza, patologie, ziekte*, gezondheid*,
        aandoening*, behandeling*, medicatie, klacht*, rookt, roker, handicap, overlijden, doodsoorzaak,
        zwanger*, choroba*, choroby, rozpoznanie, diagnoza, leczenie, lek, leki, zdrowie, stan zdrowia,
        niepelnosprawnosc, ciaza, zgon, przyczyna zgonu, palenie, sjukdom, halsa, sykdom, covid*,
        cholest*, glyc*, insulin*, triglycer*, ldl, hdl, egfr, psa, bilirubin*, phq*, gad 7, gad7, hads
        """),
    ),
    Concept(
        "belief",
        "sensitive",
        "belief or private life",
        _words("""
        religio*, faith, belief*, konfession*, glaube, politic*, political party, partei, vote, voted,
        voting*, trade union, union member*, gewerkschaft*, sexual*, sexuelle*, orientation sexuelle,
        orientacion sexual, *religion, religiao, religione, credo, confession, culte, partido, partito,
        parti politique, ideolog*, geloof, godsdienst, kerk, wyznanie, religia, poglady polityczne,
        voto, vote intention, wahlabsicht, partij, stemgedrag, orientacao sexual, orientamento sessuale,
        seksuele*, lgbt*, party, party affiliation, registered party, union membership, sexe orientation,
        preferencia sexual
        """),
    ),
    Concept(
        "justice",
        "sensitive",
        "a criminal record",
        _words("""
        crime*, criminal*, offence*, offense*, conviction*, arrest*, vorstrafe*, sentence*, prison*,
        casier judiciaire, charge, charges filed, felon*, misdemeanor*, recidiv*, delito*, antecedentes
        penales, condena*, crimen, reato, condanna, infraction*, condamnation*, strafblad, delict,
        veroordel*, przestepstwo, wyrok, karalnosc, straftat*, delikt*
        """),
    ),
    Concept(
        "result",
        "sensitive",
        "a grade or rating",
        _words("""
        grade, grades, gpa, score, scores, exam*, test result*, rating, performance, schulnote, zensur,
        note finale, notenschnitt, durchschnittsnote, abiturnote, abschlussnote, moyenne, calificacion*,
        calificaciones, promedio, nota media, nota final, voto finale, voto medio, cijfer*, eindcijfer,
        ocena, oceny, srednia, punkte, punktzahl, puntaje, puntuacion, punteggio, pontuacao, mark,
        marks, math score, reading score, writing score, performance score, performance rating,
        appraisal*, leistung*, beurteilung*, evaluation*, evaluacion*, valutazione, avaliacao,
        disciplin*, absences, fehltage, abwesen*, sick days, krankheitstage, absenteeism, satisfaction*,
        zufriedenheit*, iq
        """),
    ),
    Concept(
        "work",
        "quasi",
        "the work",
        _words("""
        occupation*, job*, profession*, beruf*, metier, ocupacion, profesion, professione, lavoro,
        workclass, work class, employ*, company, firma, arbeitgeber, arbeit, industry, branche,
        department, abteilung, position, stellung, rank, hours per week, work hours, working hours,
        arbeitszeit, military*, veteran*, emploi, poste, csp, secteur, service, puesto, empleo,
        departamento, sector, cargo, profissao, ocupacao, emprego, setor, impiego, mansione, reparto,
        settore, occupazione, inquadramento, beroep, functie, afdeling, werk, werkgever, sector*, zawod,
        stanowisko, dzial, praca, pracodawca, branza, stelle, tatigkeit, taetigkeit, arbeitsverhaltnis,
        vertragsart, contract*, contrat, tipo de contrato, title, role, manager, team, seniority,
        tenure, years of service, dienstjahre, anciennete, antiguedad, anzianita, hire date, yrke,
        weekly hours, wochenstunden, full time, shift, business travel, division, employer
        """),
    ),
    Concept(
        "language",
        "quasi",
        "the language",
        _words("""
        language*, sprache, muttersprache, mother tongue, langue, idioma, lingua, lengua, lengua
        materna, idioma materno, lingua madre, langue maternelle, taal, moedertaal, jezyk, jezyk
        ojczysty, spoken language
        """),
    ),
    # "weight" alone is a body's; the weights of surveys have names of their own.
    Concept(
        "survey weight",
        "weight",
        "a survey's weight",
        _words("""
        fnlwgt, final weight, finalweight, wgt, survey weight, sampling weight, sample weight, person
        weight, household weight, pweight, perwt, hhwt, gewichtung*, ponderation, pond, pondera*,
        expansion factor, factor de expansion, factor expansion, hochrechnung*, wgt*, *wgt, poids de
        sondage, weging, weegfactor, peso muestral, peso campionario, fator de expansao,
        hh weight, pond*
        """),
    ),
    Concept(
        "body",
        "quasi",
        "the body, which others can see",
        _words("""
        height, weight, bmi, body*, grosse, groesse, korpergrosse, koerpergroesse, gewicht,
        korpergewicht, taille, poids, altura, estatura, peso, altezza, eye color, eye colour, hair
        color, hair colour, augenfarbe, haarfarbe, stature, haircolor, eyecolor, lengte, wzrost, masa
        ciala, taille cm, talla, imc, corporal, korper*, waist*, shoe size, kleidergrosse, waga
        """),
    ),
    Concept(
        "free text",
        "drop",
        "free text",
        _words("""
        note, notes, comment*, remark*, description, free text, freetext, text, bemerkung*, anmerkung*,
        kommentar*, notiz*, notizen, freitext, commentaire*, remarque*, observacion*, comentario*, nota,
        osservazion*, narrative, memo, anamnes*, message, messages, feedback, opmerking*, toelichting,
        uwagi, opis, komentarz, observac*, observacoes, comentarios, commenti, annotazion*, remarques,
        precisions, freitext*, begrundung, free comment*, verbatim, open answer, offene*, transcript,
        story
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
    nombres, initials, initialen, nickname, voornaam, achternaam, tussenvoegsel, imie, nazwisko,
    sobrenome, apelido, primeiro nome, soprannome, efternamn, fornamn, etternavn, fornavn, apellido1,
    apellido2, patronymic, namen
    """)
)
"""A column with one of these words in its name holds names of people, or parts of them."""

BARE_NAME_WORDS = frozenset(
    _words("""
    name, names, nom, noms, nombre, nome, naam, namn, navn, nazwa, nome completo
    """)
)
"""These words do so too, alone or next to a person; a product has a name as well."""

PERSON_WORDS = frozenset(
    _words("""
    patient, patients, patienten, person, persons, personal, personen, people, client, clients,
    customer, kunde, kunden, user, users, benutzer, member, mitglied, employee, mitarbeiter, worker,
    staff, student, students, schuler, pupil, subject, subjekt, participant, respondent, teilnehmer,
    proband, resident, tenant, citizen, burger, contact, mother, father, parent, spouse, child, doctor,
    physician, arzt, nurse, teacher, owner, holder, cliente, clienti, usuario, utente, paciente,
    paziente, persona, personne, employe, empleado, first, last, middle, full, family, given, maiden,
    legal, birth, case, fall, individual, applicant, donor, victim, driver, voter, pacjent, klient,
    pracownik, uczen, osoba, osoby, klant, medewerker, werknemer, leerling, deelnemer, bewoner, persoon,
    utilisateur, eleve, salarie, adherent, beneficiaire, alumno, trabajador, socio, ciudadano,
    empregado, funcionario, aluno, pessoa, dipendente, studente, alunno, versicherte, versicherter,
    bewohner, angestellter, schueler, studierende, befragte, befragter, elev, enquete, encuestado,
    intervistato, account, passenger, insured, beneficiary, enrollee, hh, personnel, emp, stud, pat,
    cust, resp, subj, ptnt, pt, completo, propio
    """)
)

ID_WORDS = frozenset(
    _words("""
    id, ids, uid, uuid, guid, pid, identifier, identification, kennung, nummer, nr, no, number, num,
    numero, key, ref, reference, code, codes, schlussel, identifiant, identificador, identificativo,
    token, hash, nro, numer, codigo, codice, kod, matricula, matricule, matrikel, matrikelnummer,
    fallnummer, patientennummer, kundennummer, personalnummer, kennziffer, aktenzeichen, laufnummer,
    nip, identifikator, identificatie, dossier, dossiernummer, klantnummer, patientnummer, expediente,
    cedula, folio, legajo, tessera, barcode, accession, mrn
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
