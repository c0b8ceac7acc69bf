/** Tests functions of the call commands: word differences, terminal lines, single-channel audio. */
import t from 'tap'
import { oneLine } from '../../cli/terminal.ts'
import { transferWords } from '../../cli/transfer-words.ts'
import { leftOf, readWav } from '../../cli/wav.ts'
import { marked, wordDifferences } from '../../cli/word-differences.ts'
import type { CallEvent } from '../../generated/platform/types.ts'
import { fmt, riff } from '../audio/build.ts'

t.test('word differences count replaced, missing and added words', (t) => {
  const compare = (then: string, now: string) => {
    const differences = wordDifferences(then, now)
    return [differences.errors, differences.words, marked(differences, 'then'), marked(differences, 'now')]
  }
  t.same(compare('Call me, later!', 'call me later'), [0, 3, 'call me later', 'call me later'])
  t.same(compare('call me later', 'tall me'), [2, 3, '[call] me [later]', '[tall] me'])
  t.same(compare('call me', 'please call me now'), [2, 2, 'call me', '[please] call me [now]'])
  t.same(compare('', 'yes'), [1, 0, '', '[yes]'])
  t.same(compare('yes no', ''), [2, 2, '[yes] [no]', ''])
  t.same(compare('don’t', "don't"), [0, 1, "don't", "don't"])
  t.equal(wordDifferences('東京に行きます', '京都に行きます').words > 2, true, 'a script without blanks has words')
  t.end()
})

t.test('control characters are removed from a line for a terminal', (t) => {
  t.equal(oneLine('a\u001b[2Jb\r\nc\u009b31md\u0007'), 'a [2Jb c 31md')
  t.end()
})

t.test('leftOf returns the left channel of a recording between two times', (t) => {
  // The recording has eight frames at 1 kHz, and its right channel is negative.
  const samples = Int16Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? i / 2 + 1 : -1))
  const wav = riff([
    ['fmt ', fmt(1, 2, 1000, 16)],
    ['LIST', new Uint8Array(3)],
    ['data', new Uint8Array(samples.buffer)],
  ])
  const left = (fromMs: number, toMs: number) => {
    const { samples, channels, sampleRateHz } = readWav(leftOf(readWav(Buffer.from(wav)), fromMs, toMs))
    t.same([channels, sampleRateHz], [1, 1000])
    return Array.from({ length: samples.length / 2 }, (_, i) => samples.readInt16LE(i * 2))
  }
  t.same(left(2, 5), [3, 4, 5])
  t.same(left(-100, 2), [1, 2])
  t.same(left(6, 1e15), [7, 8])
  t.same(left(5, 2), [])
  t.throws(() => readWav(Buffer.from('RIFF')), /no WAV file/)
  t.throws(
    () =>
      readWav(
        Buffer.from(
          riff([
            ['fmt ', fmt(3, 2, 1000, 32)],
            ['data', new Uint8Array(8)],
          ]),
        ),
      ),
    /no WAV file/,
  )
  t.end()
})

t.test('each event, cause and fallback of a transfer is described in plain words', (t) => {
  const event = (type: CallEvent['event_type'], more: object = {}, cause: string | null = null) => {
    const payload = { kind: 'warm', label: 'Sales', transfer_to: '+15005550017', next_transfer_id: null, ...more }
    return { event_type: type, failure_cause: cause, payload }
  }
  const name = 'Sales (+15005550017)'
  t.equal(transferWords(event('transfer.requested')), `${name} is called`)
  t.equal(transferWords(event('transfer.screening')), `${name} has answered, and is asked`)
  t.equal(transferWords(event('transfer.bridging')), `${name} takes the call`)
  t.equal(transferWords(event('transfer.bridging', { kind: 'blind', label: null })), '+15005550017 has answered')
  t.equal(transferWords(event('transfer.completed')), `${name} talks to the caller`)
  const failed = (cause: string, more: object = {}) => transferWords(event('transfer.failed', more, cause))
  const causes = ['busy', 'no_answer', 'declined', 'voicemail', 'caller_hung_up', 'carrier_error']
  for (const cause of causes) t.notMatch(failed(cause), /_/, cause)
  t.match(failed('busy', { next_transfer_id: 'id' }), /the line is busy; the next number is called$/)
  t.match(
    failed('no_answer', { fallback: { action: 'take_message' } }),
    /: nobody answered, or the person did not decide in time; the agent takes a message$/,
  )
  t.match(failed('declined', { fallback: { action: 'end_call' } }), /accept the call; the call ends$/)
  t.match(failed('voicemail', { fallback: { action: 'return_to_assistant' } }), /answered; the agent goes on$/)
  t.equal(transferWords(event('transfer.cancelled')), `the call to ${name} was given up`)
  t.equal(transferWords(event('transfer.requested', { label: 'a\u001b[2J' })), 'a [2J (+15005550017) is called')
  t.equal(transferWords(event('carrier.answered')), null)
  t.end()
})
