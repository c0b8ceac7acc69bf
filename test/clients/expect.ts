/** The results that every client must give. If a client lacks a step (LangChain has no speech), it skips the step. */
import type { Test } from 'tap'
import { stubText } from '../providers/stub-openai.ts'
import { spoken } from '../speech/fixtures.ts'
import { words } from '../speech/words.ts'
import type { Outcome, Outcomes } from './setup.ts'

type Expect = (t: Test, outcome: Outcome) => void

const expectations: Readonly<Record<string, Expect>> = {
  chat: (t, { value }) => t.match(value, { text: stubText }),
  chatStream: (t, { value }) => t.match(value, { text: stubText, pieces: 4 }),
  usage: (t, { value }) => t.match(value, { prompt_tokens: 12, completion_tokens: 9 }),
  tools: (t, { value }) => t.same(value, ['weather', 'clock']),
  toolStream: (t, { value }) => t.same(value, [{ city: 'Oslo' }, {}]),
  transcribe: hasTranscript,
  transcribeText: hasTranscript,
  transcribeVerbose: (t, outcome) => {
    hasTranscript(t, outcome)
    const { duration, segments } = outcome.value as { duration: number; segments: number }
    t.ok(duration > 3 && duration < 4, `${duration} s of audio`)
    t.ok(segments >= 1)
  },
  transcribeSrt: (t, { value }) =>
    hasCaptions(t, (value as { text: string }).text, /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/),
  transcribeVtt: (t, { value }) =>
    hasCaptions(t, (value as { text: string }).text, /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n/),
  realtime: (t, outcome) => {
    hasTranscript(t, outcome)
    const { text, deltas } = outcome.value as { text: string; deltas: string }
    t.equal(deltas.trim(), text.trim(), 'the sum of the deltas is the transcript')
  },
  retrieve: (t, { value }) => t.equal(value, 'stub:stub-llm'),
  speakPcm: (t, { value }) => {
    const { bytes, head } = value as { bytes: number; head: string }
    t.ok(bytes > 24_000 && bytes % 2 === 0, `${bytes} bytes are more than half a second`)
    t.not(head, 'RIFF')
  },
  speakWav: (t, { value }) => t.match(value, { head: 'RIFF', bytes: Number }),
  speakMp3: (t, { error }) => {
    t.match(error, { status: 400 })
    t.match(error?.message, /mp3/)
    t.match(error?.message, /response_format|outputFormat/, 'the message names what to write')
    t.match(error?.message, /wav|pcm/, 'and a value that works')
  },
  models: (t, { value }) => t.ok((value as string[]).includes('stub:stub-llm')),
  toolCall: (t, { value }) => t.same(value, ['weather']),
  respondToolCall: (t, { value }) => t.same(value, ['weather']),
  agent: (t, { value }) =>
    t.match(value, { text: 'The tool says: Oslo is sunny.' }, 'the result went back to the model'),
  respond: (t, { value }) => t.match(value, { text: stubText }),
  speakSeconds: (t, { value }) => {
    const { seconds } = value as { seconds: number }
    t.ok(seconds > 1 && seconds < 3, `${seconds} s of speech`)
  },
  captions: (t, outcome) => {
    hasTranscript(t, outcome)
    const { text, captions } = outcome.value as { text: string; captions: string[] }
    // A busy machine shows fewer captions. test/realtime/captions.test.ts has the required number.
    t.ok(captions.length > 0, `${captions.length} captions before the final transcript`)
    for (const caption of captions) t.ok(text.startsWith(caption.trim()), 'no caption is taken back')
  },
  withoutCredential: (t, { value }) => {
    const { message, milliseconds } = value as { message: string; milliseconds: number }
    t.match(message, /OPENAI_API_KEY/)
    t.ok(milliseconds <= 100, `the answer came after ${milliseconds} ms, so the client did not wait and repeat`)
  },
  cutStream: raises,
  resetStream: raises,
  wrongKey: (t, { error }) => t.match(error, { status: 401 }),
}

export function expectClient(t: Test, outcomes: Outcomes, steps: readonly string[]): void {
  t.same(Object.keys(outcomes), steps)
  for (const outcome of Object.values(outcomes))
    t.test(outcome.step, (t) => {
      const expected = expectations[outcome.step] as Expect
      const mustFail = [raises, expectations['speakMp3'], expectations['wrongKey']].includes(expected)
      if (outcome.error && !mustFail) t.fail(`${outcome.error.name}: ${outcome.error.message}`)
      else expected(t, outcome)
      t.end()
    })
}

function hasTranscript(t: Test, { value }: Outcome): void {
  t.same(words((value as { text: string }).text), words(spoken['privacy-prompt']))
}

function hasCaptions(t: Test, text: string, beginning: RegExp): void {
  t.match(text, beginning)
  const spokenLines = text.split('\n').filter((line) => !/^(WEBVTT|\d+|.* --> .*)?$/.test(line))
  t.same(words(spokenLines.join(' ')), words(spoken['privacy-prompt']))
}

/**
 * Asserts that a client raises an error if a stream ends early, because a cut stream must not look like a short answer.
 */
function raises(t: Test, { error, value }: Outcome): void {
  t.ok(error, `raises, and does not answer ${JSON.stringify(value)}`)
  t.equal(error?.status, null, 'in the middle of an answer, not in place of one')
}
