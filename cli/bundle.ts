/**
 * Puts all data about a call in one file, so that the call can be examined on another machine, handed on, and replayed.
 */
import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { PlatformClient } from '../generated/clients/typescript/platform.ts'
import type { Call } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { CommandError } from './command-error.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'
import { redacted } from './redact.ts'
import { type FileEntry, writeTar } from './tar.ts'

const live = ['queued', 'dialing', 'ringing', 'in_progress', 'transferring']

const about = `
The bundle is a tar archive: call.json, config.json (the settings of the session, prompts rendered), transcript.json,
events.json, spans.json, report.json and recording.wav (left the caller, right the agent), as far as the call has them.
API keys, tokens, secrets and passwords are replaced by [redacted], in metadata and in what was said too. The rest is
content: words, voices, prompts, numbers and metadata. Hand it only to people who may listen to the call.`

export function bundle(program: Command, actions: Actions): void {
  program
    .command('bundle')
    .description('save a call that is over as one file: recording, transcript, events, spans, settings, report')
    .argument('<id>', 'id of a session or a call')
    .option('-o, --out <file>', 'where the archive goes; call-<id>.tar by default')
    .option('--json', 'print what was saved as JSON', false)
    .addHelpText('after', about)
    .action(async (id: string, { out, json }: { out?: string; json: boolean }) => {
      const client = platformClient(await actions.connection())
      const { body: call } = await client.getCall({ path: { id } })
      if (live.includes(call.status))
        throw new CommandError(`the call is ${call.status}; a bundle is made of one that is over`)
      const files = await withProgress('saving the call', () => filesOf(client, call, actions.version))
      const file = out ?? `call-${call.id}.tar`
      // The file contains the conversation, so only its user may read it.
      writeFileSync(file, writeTar(files, new Date()), { mode: 0o600 })
      const saved = files.map(({ name, bytes }) => ({ name, bytes: bytes.length }))
      print(json, { file, callId: call.id, files: saved }, () => [
        `${file}: ${saved.map(({ name }) => name).join(', ')}`,
        ...(call.recording_status === 'ready' ? [] : [`no recording: it is ${call.recording_status ?? 'not known'}`]),
      ])
    })
}

async function filesOf(client: PlatformClient, call: Call, version: string): Promise<FileEntry[]> {
  const { transcript, span_tree: spans, report, pipeline_config: config, ...rest } = call
  const { body: events } = await client.listCallEvents({ path: { id: call.id } })
  const about = { version: 1, parley: version, call_id: call.id, saved_at: new Date().toISOString() }
  return [
    jsonFile('bundle', about),
    jsonFile('call', rest),
    jsonFile('config', config),
    jsonFile('transcript', transcript),
    jsonFile('events', events),
    jsonFile('spans', spans),
    ...(report === null ? [] : [jsonFile('report', report)]),
    ...(call.recording_status === 'ready' ? [await recordingOf(client, call.id)] : []),
  ]
}

function jsonFile(name: string, value: unknown): FileEntry {
  return { name: `${name}.json`, bytes: Buffer.from(`${JSON.stringify(redacted(value), null, 2)}\n`) }
}

async function recordingOf(client: PlatformClient, id: string): Promise<FileEntry> {
  const { body } = await client.getCallRecordingAudio({ path: { id } })
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return { name: 'recording.wav', bytes: Buffer.concat(chunks) }
}
