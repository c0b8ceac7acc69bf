/** The table with all checks. The numbers stay the same in later releases, because scripts name them. */
import { answerChecks } from './answer-checks.ts'
import { channelChecks } from './channel-checks.ts'
import { documentChecks } from './document-checks.ts'
import { refusalChecks } from './refusal-checks.ts'
import { repeatChecks } from './repeat-checks.ts'
import { streamProbes } from './stream-probes.ts'
import { successChecks } from './success-checks.ts'

/** An operation's probes in their order: first successful requests, then refusals, then repetitions. */
export const operationChecks = [...successChecks, ...streamProbes, ...refusalChecks, ...repeatChecks]

const byNumber = (a: { number: number }, b: { number: number }) => a.number - b.number

/** The checks by their target, in the order of a report. */
export const checks = {
  document: [...documentChecks].sort(byNumber),
  operation: [...answerChecks, ...operationChecks].sort(byNumber),
  channel: [...channelChecks].sort(byNumber),
} as const
