"""Countries by part of the world, for grouping: two-letter code, three-letter code, name, and other spellings."""

from __future__ import annotations

PARTS_OF_THE_WORLD: dict[str, str] = {
    "Africa": """
        DZ DZA Algeria, AO AGO Angola, BJ BEN Benin, BW BWA Botswana, BF BFA Burkina Faso, BI BDI Burundi,
        CV CPV Cape Verde = Cabo Verde, CM CMR Cameroon, CF CAF Central African Republic, TD TCD Chad, KM COM Comoros,
        CG COG Congo, CD COD Democratic Republic of the Congo = DR Congo, CI CIV Ivory Coast = Cote d'Ivoire,
        DJ DJI Djibouti, EG EGY Egypt, GQ GNQ Equatorial Guinea, ER ERI Eritrea, SZ SWZ Eswatini = Swaziland,
        ET ETH Ethiopia, GA GAB Gabon, GM GMB Gambia, GH GHA Ghana, GN GIN Guinea, GW GNB Guinea-Bissau, KE KEN Kenya,
        LS LSO Lesotho, LR LBR Liberia, LY LBY Libya, MG MDG Madagascar, MW MWI Malawi, ML MLI Mali,
        MR MRT Mauritania, MU MUS Mauritius, MA MAR Morocco, MZ MOZ Mozambique, NA NAM Namibia, NE NER Niger,
        NG NGA Nigeria, RW RWA Rwanda, ST STP Sao Tome and Principe, SN SEN Senegal, SC SYC Seychelles,
        SL SLE Sierra Leone, SO SOM Somalia, ZA ZAF South Africa, SS SSD South Sudan, SD SDN Sudan,
        TZ TZA Tanzania = United Republic of Tanzania, TG TGO Togo, TN TUN Tunisia, UG UGA Uganda, ZM ZMB Zambia,
        ZW ZWE Zimbabwe
    """,
    "Asia": """
        AF AFG Afghanistan, AM ARM Armenia, AZ AZE Azerbaijan, BH BHR Bahrain, BD BGD Bangladesh, BT BTN Bhutan,
        BN BRN Brunei, KH KHM Cambodia, CN CHN China, CY CYP Cyprus, GE GEO Georgia, HK HKG Hong Kong = Hong,
        IN IND India, ID IDN Indonesia, IR IRN Iran = Islamic Republic of Iran, IQ IRQ Iraq, IL ISR Israel,
        JP JPN Japan, JO JOR Jordan, KZ KAZ Kazakhstan, KW KWT Kuwait, KG KGZ Kyrgyzstan, LA LAO Laos, LB LBN Lebanon,
        MO MAC Macao, MY MYS Malaysia, MV MDV Maldives, MN MNG Mongolia, MM MMR Myanmar = Burma, NP NPL Nepal,
        KP PRK North Korea, OM OMN Oman, PK PAK Pakistan, PS PSE Palestine, PH PHL Philippines, QA QAT Qatar,
        SA SAU Saudi Arabia, SG SGP Singapore, KR KOR South Korea = Korea = Republic of Korea, LK LKA Sri Lanka,
        SY SYR Syria, TW TWN Taiwan, TJ TJK Tajikistan, TH THA Thailand, TL TLS East Timor = Timor-Leste,
        TR TUR Turkey = Turkiye, TM TKM Turkmenistan, AE ARE United Arab Emirates, UZ UZB Uzbekistan,
        VN VNM Vietnam = Viet Nam, YE YEM Yemen
    """,
    "Europe": """
        AL ALB Albania, AD AND Andorra, AT AUT Austria, BY BLR Belarus, BE BEL Belgium,
        BA BIH Bosnia and Herzegovina = Bosnia, BG BGR Bulgaria, HR HRV Croatia, CZ CZE Czech Republic = Czechia,
        DK DNK Denmark, EE EST Estonia, FI FIN Finland, FR FRA France, DE DEU Germany, GR GRC Greece, HU HUN Hungary,
        IS ISL Iceland, IE IRL Ireland, IT ITA Italy, XK XKX Kosovo, LV LVA Latvia, LI LIE Liechtenstein,
        LT LTU Lithuania, LU LUX Luxembourg, MT MLT Malta, MD MDA Moldova, MC MCO Monaco, ME MNE Montenegro,
        NL NLD Netherlands = Holland = Holand-Netherlands, MK MKD North Macedonia = Macedonia, NO NOR Norway,
        PL POL Poland, PT PRT Portugal, RO ROU Romania, RU RUS Russia = Russian Federation, SM SMR San Marino,
        RS SRB Serbia, SK SVK Slovakia, SI SVN Slovenia, ES ESP Spain, SE SWE Sweden, CH CHE Switzerland,
        UA UKR Ukraine, GB GBR United Kingdom = UK = Great Britain = England = Scotland = Wales = Northern Ireland,
        VA VAT Vatican, YU YUG Yugoslavia
    """,
    "Latin America and the Caribbean": """
        AG ATG Antigua and Barbuda, AR ARG Argentina, BS BHS Bahamas, BB BRB Barbados, BZ BLZ Belize, BO BOL Bolivia,
        BR BRA Brazil, CL CHL Chile, CO COL Colombia = Columbia, CR CRI Costa Rica, CU CUB Cuba, DM DMA Dominica,
        DO DOM Dominican Republic, EC ECU Ecuador, SV SLV El Salvador, GD GRD Grenada, GP GLP Guadeloupe,
        GT GTM Guatemala, GY GUY Guyana, HT HTI Haiti, HN HND Honduras, JM JAM Jamaica, MQ MTQ Martinique,
        MX MEX Mexico, NI NIC Nicaragua, PA PAN Panama, PY PRY Paraguay, PE PER Peru, PR PRI Puerto Rico,
        KN KNA Saint Kitts and Nevis, LC LCA Saint Lucia, VC VCT Saint Vincent and the Grenadines, SR SUR Suriname,
        TT TTO Trinidad and Tobago = Trinidad & Tobago = Trinadad & Tobago, UY URY Uruguay, VE VEN Venezuela
    """,
    "Northern America": """
        BM BMU Bermuda, CA CAN Canada, GL GRL Greenland,
        US USA United States = United States of America = U.S.A.
    """,
    "Oceania": """
        AU AUS Australia, FJ FJI Fiji, GU GUM Guam = Outlying-US(Guam-USVI-etc), KI KIR Kiribati,
        MH MHL Marshall Islands, FM FSM Micronesia, NR NRU Nauru, NC NCL New Caledonia, NZ NZL New Zealand,
        PW PLW Palau, PG PNG Papua New Guinea, WS WSM Samoa, SB SLB Solomon Islands, TO TON Tonga, TV TUV Tuvalu,
        VU VUT Vanuatu
    """,
}
