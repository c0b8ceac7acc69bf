/** SIPp and baresip, third-party SIP programs: the paths from test/sip/lane.sh, or else from PATH. */
import { accessSync, constants, readdirSync } from 'node:fs'
import path from 'node:path'

/** The path of SIPp. Empty if it is not installed. */
export const sipp = process.env['PARLEY_SIPP'] || inPath('sipp')
/** The folder with baresip's modules. Empty if baresip or a required module is missing. */
export const baresipModules = process.env['PARLEY_BARESIP_MODULES'] || installedModules()
export const baresip = baresipModules === '' ? '' : process.env['PARLEY_BARESIP'] || inPath('baresip')

/** The reasons to skip a test. */
export const skipWithoutSipp = sipp === '' && 'there is no SIPp in PATH; `make test-all LANE=sip` downloads it'
export const skipWithoutBaresip = baresip === '' && 'there is no baresip in PATH; `make test-all LANE=sip` downloads it'

function inPath(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  return folders.map((folder) => path.join(folder, name)).find((file) => isThere(file, constants.X_OK)) ?? ''
}

/** Debian has a separate module folder per processor type. */
function installedModules(): string {
  const folders = ['', ...namesIn('/usr/lib')].map((kind) => path.join('/usr/lib', kind, 'baresip/modules'))
  return folders.find((folder) => isThere(path.join(folder, 'sndfile.so'), constants.R_OK)) ?? ''
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isThere(file: string, mode: number): boolean {
  try {
    accessSync(file, mode)
    return true
  } catch {
    return false
  }
}
