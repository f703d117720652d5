// What is asked of every page as a browser shows it. Each gives what is wrong, by where it is.
(() => {
  const shown = element => element.getClientRects().length > 0;
  const label = element => {
    const name = element.getAttribute('class');
    return element.tagName.toLowerCase() + (name ? '.' + name.trim().replace(/\s+/g, '.') : '');
  };
  const texts = () => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; node = walker.nextNode();) {
      const element = node.parentElement;
      if (node.textContent.trim() && !element.closest('script, title') && shown(element)) found.push(node);
    }
    return found;
  };

  // As WCAG 2 defines it, against the nearest background that is not transparent.
  const numbers = color => color.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(c => c / 255).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
    return .2126 * x + .7152 * y + .0722 * z;
  };
  const contrast = () => {
    const known = new Map();
    const behind = element => {
      if (!element) return [255, 255, 255];
      if (known.has(element)) return known.get(element);
      const color = numbers(getComputedStyle(element).backgroundColor);
      const found = color.length < 4 || color[3] > 0 ? color : behind(element.parentElement);
      known.set(element, found);
      return found;
    };
    const bad = {};
    const all = texts();
    for (const node of all) {
      const element = node.parentElement;
      const style = getComputedStyle(element);
      const color = numbers(element.closest('svg') ? style.fill : style.color);
      const [a, b] = [light(color), light(behind(element))].sort((x, y) => y - x);
      const ratio = (a + .05) / (b + .05);
      if (ratio < 4.5) bad[label(element)] = ratio;
    }
    return [all.length, bad];
  };

  // Texts beyond the window or their own box. What is in .scroll can be moved there.
  const cut = () => {
    const bad = {};
    const range = document.createRange();
    const seen = new Set();
    for (const node of texts()) {
      const element = node.parentElement;
      if (element.closest('.scroll')) continue;
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.left < -1 || box.right > innerWidth + 1) bad[label(element)] = [box.left, box.right];
      for (let at = element; at !== document.body && !seen.has(at); at = at.parentElement) {
        seen.add(at);
        if (at.scrollWidth > at.clientWidth + 1 && at.clientWidth > 0 && getComputedStyle(at).overflowX !== 'visible')
          bad[label(at)] = [at.scrollWidth, at.clientWidth];
      }
    }
    return bad;
  };

  // Of what stands beside or below each other: blocks, facts, the cells of rows.
  const overlaps = () => {
    const bad = {};
    const groups = [...document.querySelectorAll('main, header, #views, section, .facts, .facts div, .figures, .controls, .pictures')];
    for (const body of document.querySelectorAll('tbody')) groups.push(...[...body.rows].slice(0, 40));
    for (const group of groups) {
      const boxes = [...group.children].filter(shown).map(element => [element, element.getBoundingClientRect()]);
      boxes.forEach(([a, one], i) => {
        for (const [b, other] of boxes.slice(i + 1, i + 12)) {
          const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
          const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
          if (wide > 1 && high > 1) bad[label(a) + ' and ' + label(b)] = [wide, high];
        }
      });
    }
    return bad;
  };

  // Where the blocks are, in pixels from the left; which columns tables have, and whether rows are rows.
  const layout = () => {
    const blocks = {};
    for (const element of document.querySelectorAll('main, main > *, #views > *, header > *, .chart > *, details > table')) {
      if (!shown(element) || ['A', 'SPAN', 'SCRIPT'].includes(element.tagName)) continue;
      if (label(element) in blocks) continue;
      const box = element.getBoundingClientRect();
      // A table is as wide as its texts, and these as the font has them.
      blocks[label(element)] = element.tagName === 'TABLE' ? [box.left] : [box.left, box.width];
    }
    const tables = {};
    for (const table of document.querySelectorAll('table')) {
      const row = [...table.tBodies[0]?.rows ?? []].find(shown);
      const name = table.dataset.name ?? label(table);
      if (!row || !table.tHead || name in tables) continue;
      const heads = [...table.tHead.rows[0].cells];
      const title = cell => shown(cell) ? heads[cell.cellIndex].textContent : null;
      tables[name] = [getComputedStyle(row).display, [...row.cells].map(title).filter(text => text !== null).join(', ')];
    }
    return {blocks, tables};
  };

  window.rules = {contrast, cut, overlaps, layout};
})()
