/** Recordings are stored as files, and a dead process's recording is completed. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import { salvage } from '../../domain/conversation/hearing/recorder.ts'
import { createRecordingFiles } from '../../store/recordings/recording-files.ts'
import { temporaryFolder } from '../store/cluster.ts'

const id = '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70'
const layout = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 2 } as const

t.test('a recording file can be appended to, read in part, and removed', async (t) => {
  const folder = join(temporaryFolder(), 'recordings')
  const files = createRecordingFiles(folder)
  t.equal(await files.find(id), null)
  t.equal(await files.open(id), null)
  const file = await files.create(id)
  await file.append(Uint8Array.of(1, 2, 3))
  await file.append(Uint8Array.of(4, 5))
  await file.replaceStart(Uint8Array.of(9))
  await file.close()
  t.equal(statSync(join(folder, `${id}.wav`)).mode & 0o777, 0o600)
  const content = await files.find(id)
  t.equal(content?.size, 5)
  const read: number[] = []
  for await (const bytes of content?.read(0, 4) ?? []) read.push(...bytes)
  t.same(read, [9, 2, 3, 4])
  await files.remove(id)
  await files.remove(id)
  t.equal(existsSync(join(folder, `${id}.wav`)), false)
  for (const odd of ['../secret', '', `${id}/x`]) await t.rejects(files.find(odd))
})

t.test('salvage completes the header of a recording file whose process died', async (t) => {
  const files = createRecordingFiles(temporaryFolder())
  t.equal(await salvage(files, id), null)
  const file = await files.create(id)
  await file.append(wavHeader(layout, null))
  // The file has half a second of audio, and an incomplete frame.
  await file.append(new Uint8Array(32_000 + 3))
  await file.close()
  t.equal(await salvage(files, id), 500)
  const header: number[] = []
  for await (const bytes of (await files.find(id))?.read(0, 44) ?? []) header.push(...bytes)
  t.same(header, [...wavHeader(layout, 32_000)])
  const broken = await files.create(id)
  await broken.append(Uint8Array.of(1))
  await broken.close()
  t.equal(await salvage(files, id), null)
})
