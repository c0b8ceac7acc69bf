import type { Command } from 'commander'
import type { RouterClient } from '../generated/clients/typescript/router.ts'
import type { Actions, DemoSetting } from './actions.ts'
import { routerClient } from './client.ts'
import { withProgress } from './progress.ts'
import { message, printAnswer } from './respond.ts'
import { speechWav, wavDurationMs } from './speak.ts'

export function demo(program: Command, actions: Actions): void {
  program
    .command('demo')
    .description(
      'transcribe a recorded prompt, ask about the text and speak a sentence, on a separate instance that leaves nothing behind',
    )
    .action(() => actions.demo(run))
}

const sentence = 'Thank you for calling. Your appointment is on Tuesday at half past three.'

async function run({ connection, recording }: DemoSetting): Promise<void> {
  const client = routerClient(connection)
  console.log(`Parley runs at ${connection.baseUrl}; three requests follow.\n`)
  const text = await transcribe(client, recording)
  console.log('2. LLM answer, as it streams')
  process.stdout.write('   ')
  await printAnswer(client, {
    input: [message('user', `A caller was played: ${text} What does that mean for the caller?`)],
    max_output_tokens: 200,
  })
  console.log('')
  await speak(client)
}

async function transcribe(client: RouterClient, recording: DemoSetting['recording']): Promise<string> {
  console.log(`1. Speech to text: ${recording.name}, a recorded telephone prompt`)
  const body = { request: { language: 'en' }, audio: recording.bytes }
  const started = performance.now()
  const { body: transcription } = await withProgress('   transcribing', () => client.createTranscription({ body }))
  console.log(`   ${transcription.text}`)
  const { provider, model } = transcription.route
  const audio = seconds(transcription.usage.duration_ms)
  console.log(`   → ${provider}/${model} in ${sinceMs(started)} ms for ${audio} of audio\n`)
  return transcription.text
}

async function speak(client: RouterClient): Promise<void> {
  console.log(`3. Text to speech\n   ${sentence}`)
  const started = performance.now()
  const wav = await withProgress('   speaking', () => speechWav(client, sentence))
  console.log(`   → ${seconds(wavDurationMs(wav))} of speech in ${sinceMs(started)} ms`)
  console.log('   To listen: `make run`, then in another terminal `./dist/main.js speak "…" -o hello.wav`')
}

const sinceMs = (startedMs: number) => (performance.now() - startedMs).toFixed(0)
const seconds = (durationMs: number) => `${(durationMs / 1000).toFixed(1)} s`
