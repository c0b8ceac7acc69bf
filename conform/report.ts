/** Writes a report as text, and as XML in JUnit's format. */
import type { Report } from './conform.ts'
import type { Outcome, TargetReport, Verdict } from './results.ts'

export type Summary = Record<'passed' | 'failed' | 'warnings' | 'notApplicable', number>

export function summaryOf(targets: readonly TargetReport[]): Summary {
  const count = (verdict: Verdict) =>
    targets.reduce((sum, { outcomes }) => sum + outcomes.filter((each) => each.verdict === verdict).length, 0)
  return {
    passed: count('passed'),
    failed: count('failed'),
    warnings: count('warning'),
    notApplicable: count('not applicable'),
  }
}

/** One line for each target, then a line for each failed check and each warning. */
export function linesOf({ targets, ended, left }: Report): string[] {
  const width = Math.max(0, ...targets.map(({ id }) => id.length))
  const { passed, failed, warnings, notApplicable } = summaryOf(targets)
  return [
    ...targets.flatMap((target) => targetLines(target, width)),
    '',
    ...(ended === null ? [] : [`The run ended early: ${ended}`]),
    ...left.map((resource) => `not removed: ${resource}`),
    `${passed} passed, ${failed} failed, ${warnings} warnings, ${notApplicable} not applicable`,
  ]
}

function targetLines({ id, title, outcomes }: TargetReport, width: number): string[] {
  const of = (verdict: Verdict) => outcomes.filter((outcome) => outcome.verdict === verdict)
  const [failed, warned] = [of('failed'), of('warning')]
  const mark = failed.length > 0 ? 'FAILED' : 'ok    '
  const counts = `${of('passed').length} passed, ${failed.length} failed, ${of('not applicable').length} not applicable`
  const reasons = reasonsOf(of('not applicable'))
  return [
    `${mark} ${id.padEnd(width)}  ${title}  ${counts}${reasons}`,
    ...failed.flatMap((outcome) =>
      outcome.messages.map((text) => `         ${outcome.check} ${outcome.name}: ${text}`),
    ),
    ...warned.flatMap((outcome) =>
      outcome.messages.map((text) => `  warning ${outcome.check} ${outcome.name}: ${text}`),
    ),
  ]
}

/** Lists each reason once, with its checks' numbers. */
function reasonsOf(outcomes: readonly Outcome[]): string {
  const numbers = new Map<string, number[]>()
  for (const { check, messages } of outcomes) {
    const reason = messages[0] ?? ''
    numbers.set(reason, [...(numbers.get(reason) ?? []), check])
  }
  if (numbers.size === 0) return ''
  return ` (${[...numbers].map(([reason, checks]) => `${checks.join()}: ${reason}`).join('; ')})`
}

/** A suite is a target, a case is a check. Warnings are in `system-out`, because JUnit has no warnings. */
export function junitOf(targets: readonly TargetReport[], seconds: number): string {
  const { passed, failed, warnings, notApplicable } = summaryOf(targets)
  const tests = passed + failed + warnings + notApplicable
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="parley conform" tests="${tests}" failures="${failed}" skipped="${notApplicable}" time="${seconds.toFixed(3)}">`,
    ...targets.map(suiteOf),
    '</testsuites>',
    '',
  ].join('\n')
}

function suiteOf({ kind, id, outcomes }: TargetReport): string {
  const count = (verdict: Verdict) => outcomes.filter((outcome) => outcome.verdict === verdict).length
  const counts = `tests="${outcomes.length}" failures="${count('failed')}" skipped="${count('not applicable')}"`
  const cases = outcomes.map(({ check, name, verdict, messages }) => {
    const open = `    <testcase classname="${kind}.${escaped(id)}" name="${check} ${escaped(name)}"`
    const text = escaped(messages.join('\n'))
    if (verdict === 'failed')
      return `${open}><failure message="${escaped(messages[0] ?? '')}">${text}</failure></testcase>`
    if (verdict === 'not applicable') return `${open}><skipped message="${text}"/></testcase>`
    return verdict === 'warning' ? `${open}><system-out>${text}</system-out></testcase>` : `${open}/>`
  })
  return [`  <testsuite name="${escaped(id)}" ${counts}>`, ...cases, '  </testsuite>'].join('\n')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes XML's special characters, and drops control characters, which XML 1.0 refuses. */
function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to drop
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replace(/[&<>"]/g, (sign) => entities[sign] ?? sign)
  )
}
