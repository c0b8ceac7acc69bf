import t from 'tap'
import { type Move, move, type SocketEvent, socketEvents, socketStates } from '../../handlers/realtime/protocol.ts'

const written = (moved: Move): string => ('state' in moved ? moved.state : (moved.error ?? '-'))

t.test('each client event leads from each protocol state to the specified state or error', (t) => {
  const expected: Record<SocketEvent, string[]> = {
    //            awaiting_config   opening           streaming         ending
    config: ['opening', 'INVALID_CONFIG', 'INVALID_CONFIG', 'INVALID_CONFIG'],
    audio: ['INVALID_CONFIG', 'opening', 'streaming', 'INVALID_FRAME'],
    text: ['INVALID_CONFIG', 'opening', 'streaming', 'INVALID_FRAME'],
    flush: ['INVALID_CONFIG', 'opening', 'streaming', 'INVALID_FRAME'],
    clear: ['INVALID_CONFIG', 'opening', 'streaming', 'ending'],
    end: ['INVALID_CONFIG', 'ending', 'ending', 'ending'],
    invalid: ['INVALID_CONFIG', 'INVALID_FRAME', 'INVALID_FRAME', 'INVALID_FRAME'],
    ready: ['-', 'streaming', 'streaming', 'ending'],
    ended: ['-', 'ending', 'ending', 'ending'],
    config_late: ['INVALID_CONFIG', '-', '-', '-'],
    audio_late: ['-', 'AUDIO_TIMEOUT', 'AUDIO_TIMEOUT', '-'],
    text_late: ['-', 'TEXT_TIMEOUT', 'TEXT_TIMEOUT', '-'],
  }
  for (const event of socketEvents)
    t.same(
      socketStates.map((state) => written(move(state, event))),
      expected[event],
      event,
    )
  t.end()
})
