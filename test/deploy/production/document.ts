/** Reads the commands in a guide: the blocks that open with ```sh and a machine's name. */

export type MachineName = 'build-machine' | 'server'
export type Step = { machine: MachineName; commands: string }

/** Returns the steps in document order. In a list, a block is indented with its item. */
export function readSteps(document: string): Step[] {
  const blocks = document.matchAll(/^( *)```sh (build-machine|server)\n([\s\S]*?)^\1```$/gm)
  return [...blocks].map(([, indent = '', machine, commands = '']) => ({
    machine: machine as MachineName,
    commands: commands.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))
}

/** True if a step needs the Internet, which the nodes' network does not have. */
export function downloads({ commands }: Step): boolean {
  return /\b(apt-get|npm|git) /.test(commands)
}
