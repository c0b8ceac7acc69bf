import type { StreamState } from '../../domain/speech/stream.ts'
import type { RealtimeErrorCode } from '../../generated/realtime/errors.ts'

/**
 * A realtime socket's reaction to every event in every state, as one table for both kinds of stream. A channel's
 * contract lists its frames. This table adds the states in which a frame is allowed.
 *
 *   awaiting_config ──config──► opening ──ready──► streaming ──end──► ending ──ended──► (closes)
 *                                  └────────────────end────────────────┘
 *
 * Audio and text may come while the stream opens, because a client need not wait for `ready`. An error code closes the
 * socket. Events that close the socket in every state have no row: a failed provider, a slow reader, a shutdown, a gone
 * socket.
 */
export const socketStates = ['awaiting_config', 'opening', 'streaming', 'ending'] as const satisfies readonly (
  | 'awaiting_config'
  | StreamState
)[]
export type SocketState = (typeof socketStates)[number]

export const socketEvents = [
  // Frames from the client. `invalid` is a frame unknown to the contract.
  'config',
  'audio',
  'text',
  'flush',
  'clear',
  'end',
  'invalid',
  // Events from the provider. After `ended` the client gets only the last frame.
  'ready',
  'ended',
  // Deadlines that have passed.
  'config_late',
  'audio_late',
  'text_late',
] as const
export type SocketEvent = (typeof socketEvents)[number]

/** The next state, or the error frame's code if the event closes the socket. With a null code the event is ignored. */
export type Move = { state: SocketState } | { error: RealtimeErrorCode | null }

export function move(state: SocketState, event: SocketEvent): Move {
  return table[state][event]
}

const go = (state: SocketState): Move => ({ state })
const refuse = (error: RealtimeErrorCode): Move => ({ error })
const ignored: Move = { error: null }

const open = { config: refuse('INVALID_CONFIG'), invalid: refuse('INVALID_FRAME'), config_late: ignored }
const tooEarly = refuse('INVALID_CONFIG')
const tooLate = refuse('INVALID_FRAME')

const table: Readonly<Record<SocketState, Readonly<Record<SocketEvent, Move>>>> = {
  awaiting_config: {
    config: go('opening'),
    audio: tooEarly,
    text: tooEarly,
    flush: tooEarly,
    clear: tooEarly,
    end: tooEarly,
    invalid: tooEarly,
    config_late: tooEarly,
    audio_late: ignored,
    text_late: ignored,
    ready: ignored,
    ended: ignored,
  },
  opening: {
    ...open,
    audio: go('opening'),
    text: go('opening'),
    flush: go('opening'),
    clear: go('opening'),
    end: go('ending'),
    audio_late: refuse('AUDIO_TIMEOUT'),
    text_late: refuse('TEXT_TIMEOUT'),
    ready: go('streaming'),
    ended: go('ending'),
  },
  streaming: {
    ...open,
    audio: go('streaming'),
    text: go('streaming'),
    flush: go('streaming'),
    clear: go('streaming'),
    end: go('ending'),
    audio_late: refuse('AUDIO_TIMEOUT'),
    text_late: refuse('TEXT_TIMEOUT'),
    // A second `ready` after a failover names the new provider.
    ready: go('streaming'),
    ended: go('ending'),
  },
  ending: {
    ...open,
    audio: tooLate,
    text: tooLate,
    flush: tooLate,
    // The client may interrupt speech that is still to come.
    clear: go('ending'),
    end: go('ending'),
    // The client has sent everything, so these deadlines no longer apply. The domain has a deadline for the provider.
    audio_late: ignored,
    text_late: ignored,
    ready: go('ending'),
    ended: go('ending'),
  },
}
