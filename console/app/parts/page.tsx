import { type ReactNode, useEffect } from 'react'
import { type Command, CommandStrip } from './command-strip.tsx'
import styles from './page.module.css'

type PageProps = {
  title: string
  /** A sentence below the title. */
  lead?: ReactNode
  actions?: ReactNode
  command?: Command
  children: ReactNode
}

/** Each page's frame: its title, its actions, and at the end the curl command that does the same. */
export function Page({ title, lead, actions, command, children }: PageProps) {
  useTitle(title)
  return (
    <>
      <header className={styles.header}>
        <div className={styles.words}>
          <h1>{title}</h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
      {command && <CommandStrip command={command} />}
    </>
  )
}

/** Sets the title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Parley`
  }, [title])
}
