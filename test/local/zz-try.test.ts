import { readFileSync } from 'node:fs'
import t from 'tap'
import { recognised } from '../audio/build.ts'
import { native, openLocal } from './setup.ts'

const local = openLocal(t)
t.test('x', async (t) => {
  for (const line of readFileSync('/tmp/q/text/lines.txt', 'utf8').split('\n').filter(Boolean)) {
    const chunks = await local.speak(line)
    console.error(line, ' => ', (await local.transcribe(recognised(chunks, { ...native, encoding: 'pcm_s16le' }))).text)
  }
  t.end()
})
