/**
 * Saves a call as one file, so that the call can be examined on another machine, handed on, and replayed.
 */
import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Call } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { requirePlace } from './file-option.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'
import { readTar } from './tar.ts'

const about = `
The bundle is a tar archive: call.json, config.json (the settings of the session, prompts rendered), transcript.json,
events.json, spans.json, report.json and recording.wav (left the caller, right the agent), as far as the call has them.
In bundle.json, \`complete\` says what may be cut. Credentials of known forms are replaced by [redacted], in metadata, in
what was said, and in arguments and results of tools: keys and tokens of Parley, keys that begin with sk-, JSON Web
Tokens, and fields with a name such as api_key or password. The rest is content: words, voices, prompts, numbers and
metadata. Hand it only to people who may listen to the call.`

export function bundle(program: Command, actions: Actions): void {
  program
    .command('bundle')
    .description('save a call that is over as one file: recording, transcript, events, spans, settings, report')
    .argument('<id>', 'id of a session or a call')
    .option('-o, --out <file>', 'where the archive goes; call-<id>.tar by default')
    .option('--json', 'print what was saved as JSON', false)
    .addHelpText('after', about)
    .action(async (id: string, { out, json }: { out?: string; json: boolean }) => {
      if (out !== undefined) requirePlace('--out', out)
      const client = platformClient(await actions.connection())
      const archive = await withProgress('saving the call', async () => {
        const { body } = await client.getCallBundle({ path: { id } })
        return wholeOf(body)
      })
      const files = readTar(archive)
      const call = JSON.parse(files.get('call.json')?.toString() ?? '{}') as Pick<Call, 'id' | 'recording_status'>
      const file = out ?? `call-${call.id}.tar`
      // The file contains the conversation, so only its user may read it.
      writeFileSync(file, archive, { mode: 0o600 })
      const saved = [...files].map(([name, bytes]) => ({ name, bytes: bytes.length }))
      print(json, { file, callId: call.id, files: saved }, () => [
        `${file}: ${saved.map(({ name }) => name).join(', ')}`,
        ...(files.has('recording.wav') ? [] : [`no recording: it is ${missing(call.recording_status)}`]),
      ])
    })
}

/** A recording that is ready but not in the archive is lost. */
const missing = (status: Call['recording_status']) => (status === 'ready' ? 'lost' : (status ?? 'not known'))

async function wholeOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}
