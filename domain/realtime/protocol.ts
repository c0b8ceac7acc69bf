import type { RealtimeErrorCode } from '../../generated/realtime/errors.ts'

/**
 * What a realtime session does about what happens to it, as one table for both kinds: a channel's contract says which frames it knows, this says
 * when they may come.
 *
 *   awaiting_config ──config──► opening ──ready──► streaming ──end──► ending ──ended──► closed
 *                                  └────────────────end────────────────┘
 *
 * An error code closes it from everywhere. Audio and text may come while it opens: a client need not wait for `ready`.
 */
export const sessionStates = ['awaiting_config', 'opening', 'streaming', 'ending', 'closed'] as const
export type SessionState = (typeof sessionStates)[number]

export const sessionEvents = [
  // Frames of the client; `invalid` is one that the contract does not know.
  'config',
  'audio',
  'text',
  'flush',
  'clear',
  'end',
  'invalid',
  // What the provider did; `failed` has a code of its own.
  'ready',
  'ended',
  'failed',
  // What time and the socket did.
  'config_late',
  'audio_late',
  'text_late',
  'slow_reader',
  'shutdown',
  'gone',
] as const
export type SessionEvent = (typeof sessionEvents)[number]

/** Where the event leads, or the code of the error frame that closes the session. Null: nothing is to be done about it. */
export type Move = { state: SessionState } | { error: RealtimeErrorCode | null }

export function move(state: SessionState, event: SessionEvent): Move {
  return table[state][event]
}

const go = (state: SessionState): Move => ({ state })
const refuse = (error: RealtimeErrorCode): Move => ({ error })
const ignored: Move = { error: null }
const closed = go('closed')

const always = {
  slow_reader: refuse('BACKPRESSURE'),
  shutdown: refuse('SHUTTING_DOWN'),
  failed: closed,
  gone: closed,
} as const
const open = { ...always, config: refuse('INVALID_CONFIG'), invalid: refuse('INVALID_FRAME'), config_late: ignored }
const tooEarly = refuse('INVALID_CONFIG')
const tooLate = refuse('INVALID_FRAME')

const table: Readonly<Record<SessionState, Readonly<Record<SessionEvent, Move>>>> = {
  awaiting_config: {
    ...always,
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
    ended: closed,
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
    ended: closed,
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
    ended: closed,
  },
  closed: {
    config: ignored,
    audio: ignored,
    text: ignored,
    flush: ignored,
    clear: ignored,
    end: ignored,
    invalid: ignored,
    ready: ignored,
    ended: ignored,
    failed: ignored,
    config_late: ignored,
    audio_late: ignored,
    text_late: ignored,
    slow_reader: ignored,
    shutdown: ignored,
    gone: ignored,
  },
}
