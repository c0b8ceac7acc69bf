/** Writes the session's frames as the contract defines them. */
import type { SessionSeat } from '../../domain/calls/live/seats.ts'
import type { SessionEvent, SessionFault } from '../../domain/ports/media.ts'
import type { SessionMediaSends } from '../../generated/session/channels.ts'
import { type SessionErrorCode, sessionErrors } from '../../generated/session/errors.ts'
import { docUrl } from '../../runtime/http/doc-url.ts'

export const codeOfFault: Record<SessionFault, SessionErrorCode> = {
  upstream: 'UPSTREAM',
  internal: 'INTERNAL',
  budget_exhausted: 'BUDGET_EXHAUSTED',
  shutting_down: 'SHUTTING_DOWN',
}

export function readyFrame(seat: SessionSeat, frameMs: 20, resumed: boolean): SessionMediaSends {
  const { sessionId, identity, sampleRate, recording, maxDurationSeconds, agentName } = seat
  const audio = { sampleRate, encoding: 'pcm_s16le', frameMs } as const
  return { type: 'ready', sessionId, identity, ...audio, resumed, recording, maxDurationSeconds, agentName }
}

export function frameOf(event: SessionEvent): SessionMediaSends {
  switch (event.type) {
    case 'state':
      return { type: 'state', value: event.state }
    case 'transcript':
      return { type: 'transcript', id: event.id, source: 'user', text: event.text, isFinal: event.isFinal }
    case 'agentMessage': {
      const { id, text, isFinal, interrupted } = event
      return { type: 'agent_message', id, text, isFinal, ...(interrupted && { interrupted }) }
    }
    case 'toolCall':
      return { type: 'tool_call', id: event.id, name: event.name, status: event.status }
    case 'toolRequested':
      return { type: 'tool_call', id: event.id, name: event.name, status: 'requested', args: event.args }
  }
}

export function errorFrame(code: SessionErrorCode, requestId: string, message?: string): SessionMediaSends {
  const { closeCode, retryable, message: usual } = sessionErrors[code]
  const said = { code, message: message ?? usual, retryable, fatal: closeCode !== null }
  return { type: 'error', ...said, requestId, doc_url: docUrl('session', code) }
}
