"""The `doctor` check of τ²-bench: the pulled editions and whether they are complete; no findings without editions."""

from console.benchmarks.tau2.data.editions import CHECKOUT, DOMAINS, domain_of, editions, tasks_of
from console.benchmarks.tau2.rules.replay import begun
from console.cli.doctor_checks import BAD, GOOD, WARNING, Finding
from console.config.paths import find_data_roots
from console.core.fault import UsageError

_PULL = "eval-console pull tau2, and pull tau2 --from CHECKOUT for the edition 1.0.1."


def check_editions() -> list[Finding]:
    """Open the world of each domain's first task, and return a finding for each pulled edition."""
    roots = find_data_roots(None)
    every = [editions(root / "tau2") for root in (*roots.user, roots.pulled)]
    pulled = next((item for item in every if item), every[-1])
    findings: list[Finding] = []
    for name, edition in pulled.items():
        title = f"tau2 {name}"
        try:
            counts = [f"{domain} {len(edition.splits(domain).get('base', ()))}" for domain in DOMAINS]
            for domain in DOMAINS:
                begun(domain_of(edition, domain), next(iter(tasks_of(edition, domain).values())))
        except (UsageError, ValueError) as error:
            findings.append(Finding("data", title, BAD, str(error), _PULL))
            continue
        has_wording = name != CHECKOUT or (edition.folder / "sources").exists()
        hint = "" if has_wording else "Without sources, wording is the wheel's, and results are not comparable."
        findings.append(Finding("data", title, GOOD if has_wording else WARNING, ", ".join(counts), hint))
    return findings
