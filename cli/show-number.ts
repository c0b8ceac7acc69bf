/** Writes a phone number as lines for people. */
import type { PhoneNumber } from '../generated/platform/types.ts'
import { table } from './choice.ts'
import { oneLine } from './terminal.ts'

export function linesOfNumber({ setupStatus, dispatchMetadataTemplate: template, ...number }: PhoneNumber): string[] {
  const { id, e164, direction, agentId, label, sipConnectionInstallationId: connection } = number
  const ready = (isReady: boolean | null) => (isReady === null ? '–' : isReady ? 'yes' : 'no')
  return [
    `${e164}  ${[setupStatus.status, ...setupStatus.issues].join(', ')}`,
    ...table([
      ['id', id],
      ['direction', direction],
      ['takes calls', ready(setupStatus.inboundReady)],
      ['places calls', ready(setupStatus.outboundReady)],
      ['agent', agentId ?? 'none'],
      ['label', oneLine(label ?? '–')],
      ['source', connection === null ? 'the carrier' : `the SIP connection ${connection}`],
      ['next charge', chargeDayOf(number)],
      ...(number.suspendedAt === null ? [] : [['suspended', number.suspendedAt]]),
      ['added', number.createdAt.slice(0, 10)],
    ]),
    ...nextStepsOf({ setupStatus, direction, suspendedAt: number.suspendedAt }),
    ...(template === null ? ['template: none'] : ['template', ...linesOfTemplate(template)]),
  ]
}

/**
 * Returns the day of the next charge. If a number costs nothing, no charge is shown, even if the server names a day for
 * clients that require it.
 */
export function chargeDayOf({
  nextChargeAt,
  monthlyMicroUsd,
}: Pick<PhoneNumber, 'nextChargeAt' | 'monthlyMicroUsd'>): string {
  return monthlyMicroUsd === '0' || nextChargeAt === null ? '–' : nextChargeAt.slice(0, 10)
}

/** Names the steps that a number still needs, and the command for each step. */
export function nextStepsOf({
  setupStatus,
  direction,
  suspendedAt,
}: Pick<PhoneNumber, 'setupStatus' | 'direction' | 'suspendedAt'>): string[] {
  const isWithoutCalls = direction === 'outbound' && !setupStatus.agentReady
  return [
    ...setupStatus.issues.map((issue) => steps[issue]),
    ...(suspendedAt === null ? [] : [suspended]),
    ...(isWithoutCalls ? [takesNoCalls] : []),
  ]
}

const steps: Readonly<Record<PhoneNumber['setupStatus']['issues'][number], string>> = {
  carrier_pending:
    'The carrier has not decided on the order yet. It is asked every 5 s: look again with `parley numbers show`.',
  carrier_order_failed:
    'The carrier has refused the order, and the credit was given back. `parley numbers release` removes it, `parley numbers search` finds another one.',
  sip_connection_failing:
    'Its SIP connection fails: the other side does not answer, or it refuses calls or the registration. `parley sip-connections list` shows its settings, and the log of the server names the code.',
  sip_port_missing:
    'This server has no port for SIP, so no calls come or go over its SIP connection. Its operator sets PARLEY_SIP_PORT and PARLEY_SIP_PUBLIC_ADDRESS, and starts it again.',
  forwarding_required:
    'No call has come over its SIP connection yet: let the trunk send the calls of this number to the address that `parley sip-connections list` shows.',
  payment_overdue:
    'Its month could not be paid from the credit of the organization. It is paid within a minute of new credit (`parley org credit`), and is suspended 7 days after the first failure.',
  approval_pending:
    'The operator of this server has not approved the import yet: `parley numbers approve NUMBER --org ORGANIZATION`.',
  number_also_imported:
    'Another organization has this number too. Where the addresses of their trunks overlap, its calls go to the older import: ask the operator of this server.',
}
const suspended = 'It neither takes nor places calls until its month is paid.'
const takesNoCalls =
  'It takes no calls. `parley numbers set NUMBER --agent AGENT --direction both` lets an agent answer them; `parley agents list` shows your agents.'

/** Writes a template as JSON. JSON escapes all control characters except DEL and C1, so these are replaced. */
function linesOfTemplate(template: object): string[] {
  const lines = JSON.stringify(template, null, 2).split('\n')
  return lines.map((line) => `  ${line.replace(/[\u007f-\u009f]/g, ' ')}`)
}
