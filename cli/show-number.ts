/** A phone number as lines for people. */
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
      ['for', direction],
      ['takes calls', ready(setupStatus.inboundReady)],
      ['places calls', ready(setupStatus.outboundReady)],
      ['agent', agentId ?? 'none'],
      ['label', oneLine(label ?? '–')],
      ['source', connection === null ? 'the carrier' : `the SIP connection ${connection}`],
      ['next charge', number.nextChargeAt?.slice(0, 10) ?? '–'],
      ...(number.suspendedAt === null ? [] : [['suspended', number.suspendedAt]]),
      ['added', number.createdAt.slice(0, 10)],
    ]),
    ...(setupStatus.issues.includes('sip_connection_failing') ? [failing] : []),
    ...(template === null ? ['template: none'] : ['template', ...linesOfTemplate(template)]),
  ]
}

const failing =
  'Calls over its SIP connection fail: the other side does not answer or refuses, or this server has no port for SIP (PARLEY_SIP_PORT). `parley sip-connections list` says which.'

/** JSON escapes all characters that a terminal obeys but DEL and C1. */
function linesOfTemplate(template: object): string[] {
  const lines = JSON.stringify(template, null, 2).split('\n')
  return lines.map((line) => `  ${line.replace(/[\u007f-\u009f]/g, ' ')}`)
}
