"""A result in the formats that other tools read: CSV, JUnit's XML, HdrHistogram's percentiles."""

import csv
from io import BytesIO, StringIO
from xml.etree import ElementTree as ET

from loadtests.load.latencies import Latencies
from loadtests.loadtest.budget import Verdict
from loadtests.loadtest.result import Result

_SUITE = "nearhit loadtest"


def seconds_csv(result: Result) -> str:
    """One row for each second of the run: searches due and answered, errors, writes, latencies."""
    file = StringIO()
    rows = [{"second": number} | row.as_json() for number, row in enumerate(result.figures.seconds)]
    if rows:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return file.getvalue()


def junit_xml(result: Result) -> str:
    """One test case for each limit of the budget, and one for the run itself.

    A limit that was not judged is skipped if the budget does not require it, else it fails.
    """
    suite = ET.Element("testsuite", name=_SUITE, time=f"{result.seconds:.3f}")
    suite.append(_case("run", "ends as planned", failure=result.ended_early))
    for finding in result.findings:
        limit = finding.limit
        bound = "at least" if limit.is_least else "at most"
        measured = "nothing" if finding.measured is None else f"{finding.measured:g}"
        message = f"{finding.verdict}: {measured}, {bound} {limit.value:g}"
        case = _case(limit.group, limit.name, failure=None if finding.passes else message)
        if finding.verdict is Verdict.NOT_JUDGED and finding.passes:
            ET.SubElement(case, "skipped", message=message)
        suite.append(case)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    ET.indent(suite)
    return ET.tostring(suite, "unicode", xml_declaration=True) + "\n"


def percentiles_hgrm(result: Result) -> str:
    """The latencies of all searches in microseconds, as HdrHistogram's plotters read them."""
    file = BytesIO()
    latencies = result.figures.latencies.get("all", Latencies())
    latencies.histogram.output_percentile_distribution(file, 1.0)
    return file.getvalue().decode()


def _case(group: str, name: str, *, failure: str | None) -> ET.Element:
    case = ET.Element("testcase", classname=f"{_SUITE}.{group}", name=name)
    if failure is not None:
        ET.SubElement(case, "failure", message=failure)
    return case
