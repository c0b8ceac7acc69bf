/** Transcripts are written as subtitles, cue by cue. */
import t from 'tap'
import { cuesOf, srtOf, vttOf } from '../../handlers/compat/openai/subtitles.ts'

const cue = (text: string, startMs: number, endMs: number) => ({ text, startMs, endMs })

t.test('subtitle times include hours, and text is escaped so that it cannot end a cue', (t) => {
  const cues = [cue('One & two\n\n--> <b>', 3_599_999.6, 7_322_045), cue(' three ', 10, 5)]
  t.equal(
    srtOf(cues),
    '1\n01:00:00,000 --> 02:02:02,045\nOne & two -> <b>\n\n2\n00:00:00,010 --> 00:00:00,010\nthree\n\n',
  )
  t.match(vttOf(cues), /^WEBVTT\n\n01:00:00\.000 --> 02:02:02\.045\nOne &amp; two -> &lt;b>\n\n00/)
  t.end()
})

t.test('subtitles are segments, or words on request, or the whole transcript if it has no times', (t) => {
  const segments = [cue('a b', 0, 900)]
  const words = [cue('a', 0, 300), cue('b', 400, 900)]
  t.same(cuesOf({ text: 'a b', segments, words }, 1000, false), segments)
  t.same(cuesOf({ text: 'a b', segments, words }, 1000, true), words)
  t.same(cuesOf({ text: 'a b', segments }, 1000, true), segments)
  t.same(cuesOf({ text: 'a b', segments: [] }, 1000, false), [cue('a b', 0, 1000)])
  t.same(cuesOf({ text: '', segments: [] }, 1000, false), [], 'silence')
  t.equal(vttOf([]), 'WEBVTT\n\n')
  t.end()
})
