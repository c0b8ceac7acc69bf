import type { Command } from 'commander'
import type { Actions } from './actions.ts'

export function doctor(program: Command, actions: Actions): void {
  program
    .command('doctor')
    .description('look at this machine and the configuration, and say what would keep Parley from running')
    .action(async () => {
      const checks = await actions.doctor()
      for (const check of checks) {
        console.log(`${check.ok ? 'ok  ' : 'FAIL'}  ${check.name}: ${check.detail}`)
        if (!check.ok && check.advice) console.log(`      ${check.advice}`)
      }
      if (checks.some((check) => !check.ok)) process.exitCode = 1
    })
}
