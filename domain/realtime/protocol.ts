import type { RealtimeErrorCode } from '../../generated/realtime/errors.ts'

/**
 * What a realtime session does about what happens to it, as one table for both kinds: a channel's contract says which frames it knows, this says
 * when they may come.
 *
 *   awaiting_config ──config──► opening ──ready──► streaming ──end──► ending ──ended──► (closes)
 *                                  └────────────────end────────────────┘
 *
 * Audio and text may come while it opens: a client need not wait for `ready`. An error code closes the session, and so does what means the same in
 * every state and therefore has no row here: a provider that failed, a slow reader, a shutdown, a socket that is gone.
 */
export const streamStates = ['awaiting_config', 'opening', 'streaming', 'ending'] as const
export type StreamState = (typeof streamStates)[number]

export const streamEvents = [
  // Frames of the client; `invalid` is one that the contract does not know.
  'config',
  'audio',
  'text',
  'flush',
  'clear',
  'end',
  'invalid',
  // What the provider did. What is left after `ended` is the last frame.
  'ready',
  'ended',
  // What time did.
  'config_late',
  'audio_late',
  'text_late',
] as const
export type StreamEvent = (typeof streamEvents)[number]

/** Where the event leads, or the code of the error frame that closes the session. Null: nothing is to be done about it. */
export type Move = { state: StreamState } | { error: RealtimeErrorCode | null }

export function move(state: StreamState, event: StreamEvent): Move {
  return table[state][event]
}

const go = (state: StreamState): Move => ({ state })
const refuse = (error: RealtimeErrorCode): Move => ({ error })
const ignored: Move = { error: null }

const open = { config: refuse('INVALID_CONFIG'), invalid: refuse('INVALID_FRAME'), config_late: ignored }
const tooEarly = refuse('INVALID_CONFIG')
const tooLate = refuse('INVALID_FRAME')

const table: Readonly<Record<StreamState, Readonly<Record<StreamEvent, Move>>>> = {
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
    // A replay names the provider that took over.
    ready: go('streaming'),
    ended: go('ending'),
  },
  ending: {
    ...open,
    audio: tooLate,
    text: tooLate,
    flush: tooLate,
    // Barge-in, as long as there is speech left.
    clear: go('ending'),
    end: go('ending'),
    // The provider is the one to wait for, and its deadline is another.
    audio_late: ignored,
    text_late: ignored,
    ready: go('ending'),
    ended: go('ending'),
  },
}
