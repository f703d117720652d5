#!/usr/bin/env python3
"""sbom.py --name NAME --version VERSION [--foreign FOLDER] [--compiler CXX] [--licences FOLDER] FILE...

Prints the bill of materials of the programs and libraries FILE, as SPDX 2.3 in JSON: the libraries of lib/libraries.cmake in the
versions of the Debian packages here, either linked dynamically or contained in the files (headers and static libraries,
including those of the compiler). --foreign: the folder into which tools/package/foreign.sh has unpacked those of another machine.
--licences FOLDER: where to copy the licences of the contained ones. The time of the document is SOURCE_DATE_EPOCH, or now.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NO_STATIC = {"libisal-dev": "libdeflate-dev"}  # Debian has no libisal.a: static builds use the other one instead
# The names of licences in Debian's copyright files, and in SPDX.
LICENCES = {"apache-2.0": "Apache-2.0", "boost-1.0": "BSL-1.0", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause",
            "expat": "MIT", "mit": "MIT", "zlib": "Zlib"}


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


class Package:
    """A Debian package, installed or unpacked below `foreign`."""

    def __init__(self, name, foreign=None):
        self.name = name
        archive = Path(foreign, f"{name}.unpacked") if foreign else None
        fields = ("Source", "Version", "Architecture", "Homepage")
        if archive and archive.exists():
            found = dict(line.split(": ", 1) for line in output("dpkg-deb", "-f", archive, *fields).splitlines())
            self.copyright = Path(foreign, f"usr/share/doc/{name}/copyright")
        else:
            values = output("dpkg-query", "-W", "-f", "\t".join(f"${{{field}}}" for field in fields) + "\n", name).splitlines()[0]
            found = {field: value for field, value in zip(fields, values.split("\t")) if value}
            self.copyright = Path(f"/usr/share/doc/{name}/copyright")
        self.version, self.architecture, self.homepage = found["Version"], found["Architecture"], found.get("Homepage")
        self.source = found.get("Source", name).split(" ")[0]

    def licence(self):
        """The licence of most of its files, if Debian's copyright file is machine-readable and SPDX has a name for it."""
        text = self.copyright.read_text(errors="replace") if self.copyright.exists() else ""
        match = re.search(r"^Files: \*(?:\n(?!\n).*)*?\nLicense: *(\S+) *$", text, re.M)
        return LICENCES.get(match[1].lower(), "NOASSERTION") if match else "NOASSERTION"

    def spdx(self):
        entry = {
            "SPDXID": f"SPDXRef-{re.sub(r'[^A-Za-z0-9.-]', '-', self.name)}",
            "name": self.name,
            "versionInfo": self.version,
            "supplier": "Organization: Debian",
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": self.licence(),
            "copyrightText": "NOASSERTION",
            "sourceInfo": f"Debian source package {self.source}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator":
                              f"pkg:deb/debian/{self.name.replace('+', '%2B')}@{self.version.replace('+', '%2B').replace(':', '%3A')}"
                              f"?arch={self.architecture}"}],
        }
        return entry | ({"homepage": self.homepage} if self.homepage else {})


def owner(path):
    """The package that a file belongs to, whether or not /lib is a link to /usr/lib."""
    for candidate in (path, str(path).removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", str(candidate)], capture_output=True, text=True).stdout
        if found:
            return found.split(":")[0].split(",")[0]
    sys.exit(f"sbom.py: no package has {path}")


def needed(file):
    """The packages of the shared libraries that a file needs, except for libbtf."""
    names = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "--wide", "-d", file))
    paths = dict(re.findall(r"^\s*(\S+) => (/\S+) ", output("ldd", file), re.M)) if names else {}
    return {owner(os.path.realpath(paths[name])) for name in names if name in paths and not name.startswith("libbtf.so")}


def main(arguments):
    asked = re.findall(r"^\s*needs\((\S+)", (ROOT / "lib/libraries.cmake").read_text(), re.M)
    system = {name for file in arguments.files for name in needed(file)}
    shared = {Package(name).source for name in system}
    within = []
    for name in dict.fromkeys(asked):
        if system and name in NO_STATIC.values() or not system and name in NO_STATIC:
            continue
        package = Package(name, arguments.foreign)
        if package.source not in shared:
            within.append(package)
    if not system:
        for library in ("libc.a", "libstdc++.a", "libgcc.a"):
            within.append(Package(owner(os.path.realpath(output(arguments.compiler, f"-print-file-name={library}").strip()))))
        within = list({package.name: package for package in within}.values())
    linked = [Package(name) for name in sorted(system)]

    if arguments.licences:
        Path(arguments.licences).mkdir(parents=True, exist_ok=True)
        for package in within:
            shutil.copyfile(package.copyright, Path(arguments.licences, f"{package.name}.txt"))

    digests = {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in arguments.files}
    files = [{"SPDXID": f"SPDXRef-File-{number}", "fileName": f"./{Path(file).name}", "licenseConcluded": "NOASSERTION",
              "copyrightText": "NOASSERTION", "checksums": [
                  {"algorithm": "SHA1", "checksumValue": hashlib.sha1(Path(file).read_bytes()).hexdigest()},
                  {"algorithm": "SHA256", "checksumValue": digest}]}
             for number, (file, digest) in enumerate(digests.items())]
    product = {"SPDXID": "SPDXRef-btftool", "name": "btftool", "versionInfo": arguments.version, "supplier": "NOASSERTION",
               "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
               "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", "primaryPackagePurpose": "APPLICATION"}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", product["SPDXID"])]
    relations += [(file["SPDXID"], "GENERATED_FROM", product["SPDXID"]) for file in files]
    relations += [(product["SPDXID"], "STATIC_LINK", package.spdx()["SPDXID"]) for package in within]
    relations += [(product["SPDXID"], "DYNAMIC_LINK", package.spdx()["SPDXID"]) for package in linked]
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), datetime.timezone.utc)
    identity = hashlib.sha256("".join(digests.values()).encode()).hexdigest()[:32]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": arguments.name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{arguments.name}-{identity}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: btftool-sbom.py"]},
        "packages": [product, *(package.spdx() for package in (*within, *linked))],
        "files": files,
        "relationships": [dict(zip(("spdxElementId", "relationshipType", "relatedSpdxElement"), relation)) for relation in relations],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--foreign")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--licences")
    parser.add_argument("files", nargs="+", metavar="FILE")
    print(json.dumps(main(parser.parse_args()), indent=1))
