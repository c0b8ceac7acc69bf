/**
 * Finds and reads models in the models folder. `parley models add` makes a folder for each model. The folder appears in
 * one step, when all its files are complete.
 */
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { requireSum } from './sum.ts'

export type InstalledFile = { bytes: number; sha256: string }

/** `id` is the model's id in the catalog, and the name of its folder. */
export type InstallableModel = { id: string; files: Readonly<Record<string, InstalledFile>> }

/**
 * Checks only the files' sizes, because requests wait for the result. Returns false for a folder that this process may
 * not read: an error would fail every request, even requests that need no added model.
 */
export function isInstalled(modelsDir: string, { id, files }: InstallableModel): boolean {
  try {
    return Object.entries(files).every(([name, { bytes }]) => statSync(path.join(modelsDir, id, name)).size === bytes)
  } catch {
    return false
  }
}

/** Reads a file of a model. Rejects if the file is missing or has another checksum. */
export async function readInstalled(folder: string, name: string, { sha256 }: InstalledFile): Promise<Buffer> {
  const file = path.join(folder, name)
  const bytes = await readFile(file)
  requireSum(file, bytes, sha256)
  return bytes
}
