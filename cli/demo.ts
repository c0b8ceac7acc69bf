import { mkdtempSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Command } from 'commander'
import type { RouterClient } from '../generated/clients/router.ts'
import type { Actions, Connection } from './actions.ts'
import { routerClient } from './client.ts'
import { withProgress } from './progress.ts'
import { message, printAnswer } from './respond.ts'
import { speechWav } from './speak.ts'

const sentence =
  'Thank you for calling Parley. Your appointment is on Tuesday at half past three. Press one to confirm.'

export function demo(program: Command, actions: Actions): void {
  program
    .command('demo')
    .description(
      'speak a sentence, transcribe the speech and ask about the text, on a separate instance that is removed afterwards',
    )
    .action(() => actions.demo(run))
}

async function run(connection: Connection): Promise<void> {
  const client = routerClient(connection)
  console.log(`Parley runs at ${connection.baseUrl}; three requests follow.\n`)
  const wav = await speak(client)
  const text = await transcribe(client, wav)
  console.log('3. LLM answer, as it streams')
  process.stdout.write('   ')
  await printAnswer(client, {
    input: [message('user', `A caller heard: ${text} What did they hear?`)],
    max_output_tokens: 200,
  })
}

async function speak(client: RouterClient): Promise<Buffer> {
  console.log(`1. Text to speech\n   ${sentence}`)
  const started = performance.now()
  const wav = await withProgress('   speaking', () => speechWav(client, sentence))
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'parley-demo-')), 'speech.wav')
  writeFileSync(file, wav)
  console.log(`   → ${file} in ${(performance.now() - started).toFixed(0)} ms\n`)
  return wav
}

async function transcribe(client: RouterClient, wav: Buffer): Promise<string> {
  console.log('2. Speech to text, the same audio back')
  const body = { request: { language: 'en' }, audio: new Uint8Array(wav) }
  const started = performance.now()
  const { body: transcription } = await withProgress('   transcribing', () => client.createTranscription({ body }))
  console.log(`   ${transcription.text}`)
  const { provider, model } = transcription.route
  console.log(
    `   → ${provider}/${model} in ${(performance.now() - started).toFixed(0)} ms for ${(transcription.usage.duration_ms / 1000).toFixed(1)} s of audio\n`,
  )
  return transcription.text
}
