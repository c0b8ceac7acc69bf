/** The transcript events of `transcribe` have the mean confidence of their words. */
import t from 'tap'
import { transcriptsOf } from '../../handlers/compat/native/transcribe.ts'

const word = (start: number, confidence?: number) => ({
  text: 'a',
  start,
  end: start + 0.1,
  ...(confidence && { confidence }),
})
const segment = (start: number, end: number) => ({ text: 'a', start, end })

t.test('a transcript event has the mean confidence of the words that begin before its end', (t) => {
  const segments = [segment(0, 1), segment(1, 2), segment(2, 3)]
  const words = [word(0, 0.5), word(0.9, 1), word(1, 0.25), word(2.5)]
  t.same(
    [...transcriptsOf({ segments, words })],
    [
      { ...segment(0, 1), isFinal: true, confidence: 0.75 },
      { ...segment(1, 2), isFinal: true, confidence: 0.25 },
      { ...segment(2, 3), isFinal: true },
    ],
  )
  t.same([...transcriptsOf({ segments: [segment(0, 1)] })], [{ ...segment(0, 1), isFinal: true }], 'without words')
  t.end()
})
