/** The checks' findings by target: a document, an operation or a channel. */

/** Shows that the check cannot be made here, and the reason. */
export type Inapplicable = { reason: string }
/** Faults, empty if the check passed. Null if this answer says nothing about the check. */
export type Found = readonly string[] | Inapplicable | null

export const inapplicable = (reason: string): Inapplicable => ({ reason })

export type Verdict = 'passed' | 'failed' | 'warning' | 'not applicable'
export type Outcome = { check: number; name: string; verdict: Verdict; messages: readonly string[] }
export type TargetKind = 'document' | 'operation' | 'channel'
export type TargetReport = { kind: TargetKind; id: string; title: string; outcomes: Outcome[] }

type Known = { number: number; name: string; warns?: boolean; otherwise: string }
type Entry = { check: Known; judged: number; faults: Set<string>; reason: string | null }

/** The maximum number of messages in a report for one check and target. */
const messagesMax = 5

export class Results {
  readonly #targets = new Map<string, { kind: TargetKind; title: string; entries: Map<number, Entry> }>()
  readonly #strict: boolean
  #ended: string | null = null

  constructor(strict: boolean) {
    this.#strict = strict
  }

  /** Names a target and its checks, so a check without a finding is reported too. */
  add(kind: TargetKind, id: string, title: string, checks: readonly Known[]): void {
    const entries = checks.map((check): [number, Entry] => {
      return [check.number, { check, judged: 0, faults: new Set(), reason: null }]
    })
    this.#targets.set(id, { kind, title, entries: new Map(entries) })
  }

  record(id: string, check: number, found: Found): void {
    const entry = this.#targets.get(id)?.entries.get(check)
    if (entry === undefined || found === null) return
    if ('reason' in found) {
      entry.reason ??= found.reason
      return
    }
    entry.judged += 1
    for (const fault of found) entry.faults.add(fault)
  }

  /** The run ends early. The reason is reported for each check that was not made. */
  end(reason: string): void {
    this.#ended = `the run ended before: ${reason}`
  }

  report(): TargetReport[] {
    return [...this.#targets].map(([id, { kind, title, entries }]) => ({
      kind,
      id,
      title,
      outcomes: [...entries.values()].map((entry) => this.#outcome(entry)),
    }))
  }

  #outcome({ check, judged, faults, reason }: Entry): Outcome {
    const { number, name, warns = false, otherwise } = check
    const verdict = faults.size > 0 ? (warns && !this.#strict ? 'warning' : 'failed') : judged > 0 ? 'passed' : null
    if (verdict === null)
      return { check: number, name, verdict: 'not applicable', messages: [reason ?? this.#ended ?? otherwise] }
    const shown = [...faults].slice(0, messagesMax)
    const more = faults.size - shown.length
    return { check: number, name, verdict, messages: more > 0 ? [...shown, `and ${more} more`] : shown }
  }
}
