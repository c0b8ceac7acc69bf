/**
 * Text of an LLM that is not spoken, such as Markdown, may come before spoken text, and sentences may begin within a
 * line.
 */
import t from 'tap'
import { AgentSpeech } from '../../domain/conversation/speaking/agent-speech.ts'
import { normalizerOf } from '../../domain/conversation/speaking/normalizer.ts'
import { Playout } from '../../domain/conversation/speaking/playout.ts'
import { bench, caller } from '../domain/fakes.ts'
import { pipeline } from './setup.ts'

const normalize = normalizerOf(pipeline)

/**
 * Makes a function that lets the agent speak text pieces. `sent` is the text for the voice, `read` the number of
 * normalized characters.
 */
function saying() {
  const { clock } = bench([])
  const media = { sampleRateHz: 16_000, frame() {}, mark() {}, clear() {}, notify() {}, close() {} }
  const playout = new Playout(
    media,
    { clock, pacer: { add: () => {}, delete: () => {} }, aheadMs: 400 },
    { started() {}, finished() {}, drained() {}, frame() {} },
  )
  const said = { sent: [] as string[], read: 0, shown: '' }
  const speech = new AgentSpeech(
    {
      clock,
      synthesizeStream: () => ({
        text: (text) => said.sent.push(text),
        flush() {},
        end() {},
        leave() {},
        resume() {},
        clear() {},
        owesSpeech: false,
      }),
      request: (signal) => ({ caller: caller(), requestId: 'req_1', operation: 'session', signal }),
      normalize: (sentence, start) => {
        said.read += sentence.length
        return normalize(sentence, start)
      },
      presetLike: () => null,
      record: { failedOver() {} },
    },
    { pipeline, routing: { mode: 'auto', objective: 'balanced' }, voice: { route: null, preset: null } },
    { playout, sampleRateHz: 16_000 },
    { text: (text) => (said.shown = text), voiceLost: (fault) => t.fail(fault.kind) },
  )
  return { speech, said }
}

t.test('a long text from the LLM without speakable words is scanned only once', (t) => {
  for (const unit of [' ', '\t', '- ', '|', '```\n', '<br>\n', '> ', '\n', '*', '| ', '[](']) {
    const { speech, said } = saying()
    const silent = `\`${unit.repeat(9600 / unit.length)}`
    for (const piece of silent.match(/[^]{1,400}/g) ?? []) speech.say(piece)
    speech.say('\nHello there.')
    speech.finish()
    const length = silent.length + '\nHello there.'.length
    t.equal(said.read, length, `${JSON.stringify(unit)}: ${said.read} characters read of ${length}`)
    t.match(said.sent, [/^[^a-z]*Hello there\.$/], unit)
    t.equal(said.shown, `${silent}\nHello there.`.trim(), 'all of it is shown')
  }
  t.end()
})

t.test('Markdown list and heading characters count only at the beginning of a line', (t) => {
  const rows: [text: string, sent: string[]][] = [
    ['Tonight: - 5 degrees.', ['Tonight: ', '- 5 degrees.']],
    ['Your score: > 90 percent.', ['Your score: ', '> 90 percent.']],
    ['Total: # 5', ['Total: ', '# 5']],
    ['We have:\n- 2 teas\n- milk\n', ['We have:\n', '2 teas\n', 'milk\n']],
    ['Of course!\n\n  - Milk. - 5 left.', ['Of course!\n', '\nMilk. ', '- 5 left.']],
    ['# Menu\n> Tea. > 5 sorts.', ['Menu\n', 'Tea. ', '> 5 sorts.']],
    ['```js\n- one\n```\n- two\n', ['one\n', '\ntwo\n']],
  ]
  for (const [text, sent] of rows) {
    const { speech, said } = saying()
    for (const letter of text) speech.say(letter)
    speech.finish()
    t.same(said.sent, sent, text)
    t.equal(said.shown, text.trim())
  }
  t.end()
})

t.test('the shown text of a sentence includes the unspoken text before it', (t) => {
  const { speech, said } = saying()
  speech.say('```js\n')
  speech.say('One **two**.')
  speech.finish()
  t.same(said.sent, ['One two.'])
  t.equal(said.shown, '```js\nOne **two**.')
  t.end()
})
