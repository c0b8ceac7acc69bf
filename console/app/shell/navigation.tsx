import { Link } from '@tanstack/react-router'
import { BookOpen, EyeOff, Keyboard } from 'lucide-react'
import { Button } from '../parts/button.tsx'
import { classes } from '../parts/classes.ts'
import { useRedaction } from '../parts/redaction.tsx'
import { useTimes } from '../parts/times.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Mark } from './mark.tsx'
import styles from './navigation.module.css'
import { groups, type Section } from './sections.ts'

type NavigationProps = { isOpen: boolean; close: () => void; openHelp: () => void }

export function Navigation({ isOpen, close, openHelp }: NavigationProps) {
  const { isOn, toggle } = useRedaction()
  const { zone } = useTimes()
  return (
    <section aria-label="Menu" className={classes(styles.side, isOpen && styles.open)}>
      <div className={styles.brand}>
        <Mark />
        <span>Parley</span>
      </div>
      <nav aria-label="Pages" className={styles.pages}>
        {groups.map(({ name, sections }) => (
          <div key={name} className={styles.group}>
            {name !== null && <h2>{name}</h2>}
            <ul>
              {sections.map((section) => (
                <li key={section.to}>
                  <PageLink {...section} onOpen={close} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className={styles.foot}>
        <Button look="quiet" isSmall aria-pressed={isOn} onClick={toggle}>
          <EyeOff aria-hidden="true" />
          Hide private text
        </Button>
        <Button look="quiet" isSmall onClick={openHelp}>
          <Keyboard aria-hidden="true" />
          Shortcuts
        </Button>
        <a href="/docs" target="_blank" rel="noreferrer" className={styles.link}>
          <BookOpen aria-hidden="true" />
          Documentation
        </a>
        <small className={styles.zone}>{`Times are in ${zone}.`}</small>
        <AccountMenu />
      </div>
    </section>
  )
}

function PageLink({ to, label, icon: Icon, onOpen }: Section & { onOpen: () => void }) {
  return (
    <Link to={to} className={styles.link} activeOptions={{ exact: to === '/', includeSearch: false }} onClick={onOpen}>
      <Icon aria-hidden="true" />
      {label}
    </Link>
  )
}
