import { useQuery } from '@tanstack/react-query'
import { Navigate, Outlet, useNavigate } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { useMemo, useState } from 'react'
import { sessionQuery } from '../data/session.ts'
import { Button } from '../parts/button.tsx'
import { useRedaction } from '../parts/redaction.tsx'
import { useShortcuts } from '../parts/shortcuts.tsx'
import { Answer } from '../parts/states.tsx'
import { ZoneProvider } from '../parts/times.tsx'
import styles from './frame.module.css'
import { HelpDialog } from './help-dialog.tsx'
import { Navigation } from './navigation.tsx'
import { groups } from './sections.ts'

/** Shows a page beside the navigation. Without a session, the sign-in page comes first and leads back afterwards. */
export function Frame() {
  const session = useQuery(sessionQuery)
  if (session.data === null) return <ToSignIn />
  if (session.data)
    return (
      <ZoneProvider zone={session.data.organization.timeZone}>
        <SignedIn />
      </ZoneProvider>
    )
  return (
    <main className={styles.main}>
      <Answer of={session} heading="Parley">
        {() => null}
      </Answer>
    </main>
  )
}

/** Reads the URL once, because the sign-in page changes the URL. */
function ToSignIn() {
  const [next] = useState(() => window.location.pathname + window.location.search)
  return <Navigate to="/login" search={{ next }} replace />
}

function SignedIn() {
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [isMenuOpen, setMenuOpen] = useState(false)
  useFrameShortcuts(() => setHelpOpen(true))
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content">
        Skip to the page
      </a>
      <header className={styles.bar}>
        <Button look="quiet" aria-expanded={isMenuOpen} onClick={() => setMenuOpen((was) => !was)}>
          <MenuIcon aria-hidden="true" />
          Menu
        </Button>
      </header>
      <Navigation isOpen={isMenuOpen} close={() => setMenuOpen(false)} openHelp={() => setHelpOpen(true)} />
      <main id="content" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      {isHelpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
    </div>
  )
}

function useFrameShortcuts(openHelp: () => void): void {
  const navigate = useNavigate()
  const { toggle } = useRedaction()
  const [open] = useState(() => openHelp)
  const shortcuts = useMemo(
    () => [
      { keys: '?', label: 'Show the keys of this page', run: open },
      { keys: 'Shift+R', label: 'Hide or show numbers and words', run: toggle },
      ...groups.flatMap(({ sections }) =>
        sections.map(({ to, label, keys }) => ({ keys, label: `Go to ${label}`, run: () => void navigate({ to }) })),
      ),
    ],
    [navigate, open, toggle],
  )
  useShortcuts(shortcuts)
}
