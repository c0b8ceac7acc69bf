import { readInstalled } from '../../weights/installed-model.ts'
import { sessionOf } from '../../weights/onnx.ts'
import { Vocabulary } from './vocabulary.ts'
import { Whisper } from './whisper.ts'
import { whisperFiles } from './whisper-files.ts'

/**
 * The decoder's inputs grow with each token, so the runtime would keep a memory plan for each length. This switches the
 * plans off.
 */
const memory = { enableMemPattern: false }

/** Loads the model from its folder. Rejects if a file is missing or has another checksum. */
export async function openWhisper(folder: string): Promise<Whisper> {
  const { files } = whisperFiles
  return new Whisper({
    encoder: await sessionOf(await readInstalled(folder, 'encoder.onnx', files['encoder.onnx']), memory),
    decoder: await sessionOf(await readInstalled(folder, 'decoder.onnx', files['decoder.onnx']), memory),
    vocabulary: new Vocabulary((await readInstalled(folder, 'vocabulary.txt', files['vocabulary.txt'])).toString()),
  })
}

/** Returns the model's folder: the first argument of a child process. */
export function folderArgument(): string {
  const [, , folder] = process.argv
  if (folder === undefined) throw new Error('the folder of the model is missing')
  return folder
}
