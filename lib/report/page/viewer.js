// Draws a page from the JSON in it: tables that are sorted and filtered, charts, and the details of
// tensors. Rows and details are drawn when they come near the window, so that a page of tens of
// thousands of rows opens at once. Texts of the JSON become text nodes only, never markup.
'use strict';
(async () => {
const kWhole = 500;      // rows of a table that is drawn at once, as a whole
const kChunk = 50;       // rows of a longer one that are drawn together
const kPrinted = 5000;   // rows of a table that are drawn for paper
const kColumns = 1000;   // of a chart; with more items, each shows the one that ranks highest
const kMarks = 50;       // that are as high as the chart
const kElements = 100;   // rows of a table of elements
const kBars = 24;        // of a histogram of errors

// ---- elements and texts

const get = id => document.getElementById(id);
const build = (element, attributes, content) => {
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (value !== undefined && value !== '') element.setAttribute(name, value);
  element.append(...content.flat().filter(item => item !== undefined && item !== null && item !== ''));
  return element;
};
const make = (tag, attributes, ...content) => build(document.createElement(tag), attributes, content);
const svg = new DOMParser().parseFromString('<svg></svg>', 'text/html').querySelector('svg').namespaceURI;
const draw = (tag, attributes, ...content) => build(document.createElementNS(svg, tag), attributes, content);

const count = value => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
const short = digits => digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits;
// As %g of C.
const general = (value, digits) => {
  if (value === 0) return '0';
  const [mantissa, power] = value.toExponential(digits - 1).split('e');
  if (+power >= -4 && +power < digits) return short(value.toFixed(digits - 1 - power));
  return `${short(mantissa)}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
};
const special = {nan: NaN, inf: Infinity, '-inf': -Infinity};
const infinite = value => value > 0 ? '∞' : '−∞';
const kinds = {
  number: value => {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : infinite(value);
    const text = [6, 9, 12].map(digits => general(value, digits)).find(found => !['0', '1', '-1'].includes(found));
    return text ?? general(value, 17);
  },
  count,
  share: value => value > 0 && value < 1e-5 ? '<0.001%' : general(value < 1 ? Math.min(100 * value, 99.9) : 100 * value, 3) + '%',
  times: value => Number.isFinite(value) ? general(value, 3) : infinite(value),
  percent: value => (Number.isFinite(value) ? general(100 * value, 3) : infinite(value)) + ' %',
};
const number = value => kinds.number(special[value] ?? +value);
const element = value => typeof value === 'number' ? general(value, Math.fround(value) === value ? 9 : 17) : value;
const shape = dims => dims.length <= 16 ? `[${dims.join(', ')}]`
    : `[${dims.slice(0, 8).join(', ')}, …, ${dims.slice(-8).join(', ')}] (rank ${dims.length})`;

// Lines may break behind slashes, dots and underscores.
const name = text => make('bdi', {}, text.split(/(?<=[/._])(?=[^/._])/).flatMap((part, i) => i ? [make('wbr'), part] : part));

// ---- what is drawn when it comes near

const lazy = new Map();  // an element, and how it is drawn and emptied
const watcher = new IntersectionObserver(entries => {
  for (const {target, isIntersecting} of entries) {
    const parts = lazy.get(target);
    if (parts) isIntersecting ? parts.fill() : parts.empty?.();
  }
}, {rootMargin: '1500px 0px'});
const watch = (target, parts) => { lazy.set(target, parts); watcher.observe(target); };
const forget = target => { lazy.delete(target); watcher.unobserve(target); };

// ---- drawings in cells: heights are digits of base 36

const height = digit => parseInt(digit, 36);
const bars = (digits, from) => [...digits ?? ''].map((digit, i) =>
    digit === ' ' ? '' : `M${i} ${35 - height(digit)}h1V${from ? 35 - height(from[i]) : 35}h-1z`).join('');
const drawing = (kind, columns, title, paths) => draw('svg', {
  class: kind, viewBox: `0 0 ${columns} 35`, preserveAspectRatio: 'none', role: 'img'},
draw('title', {}, title), paths.filter(([, path]) => path).map(([style, path]) => draw('path', {class: style, d: path})));
const marked = (channels, style, words) => channels > 0 ? [' · ', make('b', {class: style}, `${count(channels)} ${words}`)] : [];
const drawings = {
  histogram: value => [
    drawing('hist', value.bars.length, value.title, [['', bars(value.bars)]]),
    make('small', {class: 'ends'}, make('span', {}, number(value.least)), make('span', {}, number(value.most)))],
  strip: value => [
    drawing('strip', value.high.length, value.title, [
      ['dead', bars(value.dead)], ['sat', bars(value.saturated)],
      ['range', bars(value.high, value.low)], ['mid', bars(value.above, value.below)]]),
    make('small', {}, count(value.channels), marked(value.dead_channels, 'bad', 'dead'),
         marked(value.saturated_channels, 'warn', 'saturated'))],
};

// ---- tables

const tables = [];
const isNumber = kind => kind in kinds;
const keyOf = (value, kind) => {
  if (Array.isArray(value)) value = value[0];
  if (value !== null && typeof value === 'object') value = value.key;
  if (value === undefined || value === null || value === '') return undefined;
  return isNumber(kind) || typeof value === 'number' ? special[value] ?? +value : value;
};

class Table {
  constructor(view) {
    this.name = view.name;
    this.rows = view.rows;
    this.columns = view.columns.map(([title, member, kind, style], at) => ({title, member, kind, style, at}));
    this.at = Object.fromEntries(this.columns.map(column => [column.member, column.at]));
    this.shown = this.columns.filter(column => column.title);
    this.order = this.rows.map((_, i) => i);
    this.kept = this.order;
    this.estimate = 40;
    this.heads = this.shown.map(column => {
      const head = make('th', {class: column.style, tabindex: 0, scope: 'col'}, column.title);
      head.onclick = () => this.sort(column, head);
      head.onkeydown = event => { if (event.key === 'Enter') this.sort(column, head); };
      return head;
    });
    this.element = make('table', {class: 'rows sortable', 'data-name': this.name, 'data-kept': this.rows.length},
                        make('thead', {}, make('tr', {}, this.heads)));
    this.chunks = [];
  }

  number(row, member) { return keyOf(row[this.at[member]], 'number'); }

  row(index) {
    const row = this.rows[index];
    const link = row[this.at.section];
    const mark = row[this.at.mark];
    return make('tr', {class: mark}, this.shown.map(column => make('td',
        {class: column.style, 'data-l': column.title}, this.content(column, row[column.at], link))));
  }

  content(column, value, link) {
    if (value === undefined || value === null) return isNumber(column.kind) ? '–' : '';
    if (drawings[column.kind]) return typeof value === 'object' ? drawings[column.kind](value) : value;
    if (Array.isArray(value))
      return value.filter((item, i) => i === 0 || item).flatMap((item, i) =>
          i ? [' ', make('small', {}, item)] : column.style === 'why' ? make('b', {}, item) : this.content(column, item, link));
    if (typeof value === 'object') return this.content(column, value.text, link);
    if (isNumber(column.kind))
      return typeof value === 'string' && !(value in special) ? value : kinds[column.kind](special[value] ?? value);
    if (column.kind === 'result') return value && make('span', {class: 'result ' + value}, value);
    if (column.kind !== 'name') return value;
    return link ? make('a', {href: '#d' + link}, name(value)) : name(value);
  }

  // Rows by the column; those that have no value come last.
  sort(column, head) {
    const before = head.getAttribute('aria-sort');
    const up = before ? before === 'descending' : !isNumber(column.kind) && !drawings[column.kind];
    const compare = new Intl.Collator(undefined, {numeric: true}).compare;
    const keys = this.rows.map(row => keyOf(row[column.at], column.kind));
    this.order = this.rows.map((_, i) => i).sort((a, b) => {
      const [x, y] = [keys[a], keys[b]];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined) || a - b;
      const sign = typeof x === 'number' && typeof y === 'number' ? (x === y ? 0 : x < y ? -1 : x > y ? 1 : Number.isNaN(x) - Number.isNaN(y))
          : compare(x, y);
      return (up ? sign : -sign) || a - b;
    });
    for (const other of this.heads) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    this.filter(this.last ?? {words: [], checks: []});
  }

  // Rows that have all of the words, and a number above 0 in the columns that are checked.
  filter(wanted) {
    this.last = wanted;
    this.texts ??= this.rows.map(row => row.flat().filter(value => typeof value === 'string').join(' ').toLowerCase());
    this.kept = this.order.filter(i => wanted.words.every(word => this.texts[i].includes(word)) &&
                                       wanted.checks.every(member => this.number(this.rows[i], member) > 0));
    this.draw();
  }

  draw() {
    for (const chunk of this.chunks) {
      forget(chunk);
      chunk.remove();
    }
    this.chunks = [];
    this.element.dataset.kept = this.kept.length;
    if (this.kept.length <= kWhole) {
      this.chunks = [make('tbody', {}, this.kept.map(index => this.row(index)))];
      this.element.append(...this.chunks);
      return;
    }
    for (let first = 0; first < this.kept.length; first += kChunk) this.chunks.push(this.chunk(first));
    this.element.append(...this.chunks);
    lazy.get(this.chunks[0]).fill();
    const box = this.chunks[0].getBoundingClientRect().height;
    if (box > 0) this.estimate = box / this.chunks[0].rows.length;
    for (const chunk of this.chunks) lazy.get(chunk).empty();
    lazy.get(this.chunks[0]).fill();
  }

  // Rows that are not near are one empty row as high as they are.
  chunk(first) {
    const rows = this.kept.slice(first, first + kChunk);
    const body = make('tbody');
    let full = false;
    let pixels = 0;
    watch(body, {
      fill: () => {
        if (full) return;
        full = true;
        body.replaceChildren(...rows.map(index => this.row(index)));
      },
      empty: () => {
        const box = full ? body.getBoundingClientRect().height : 0;
        if (box > 0) pixels = box;
        full = false;
        const gap = make('tr', {class: 'gap'}, make('td', {colspan: this.shown.length}));
        gap.style.height = `${pixels || rows.length * this.estimate}px`;
        body.replaceChildren(gap);
      },
    });
    return body;
  }
}

// ---- charts

const percentLabel = decade => general(100 * 10 ** decade, 6) + ' %';

// A logarithmic chart of numbers of rows, in their order.
class Chart {
  constructor(view) {
    this.view = view;
    const from = tables.filter(table => view.tables.includes(table.name));
    this.items = from.flatMap(table => table.rows.map(row => ({table, row})));
    if (from.length > 1) this.items.sort((a, b) => this.of(a, 'order') - this.of(b, 'order'));
    this.width = 1000;
    this.height = 240;
  }

  of({table, row}, member) { return table.number(row, member); }
  mark({table, row}) { return row[table.at.mark] || 'plain'; }
  title({table, row}) { return row[table.at.told]; }

  // Returns nothing if there is no number to draw.
  element() {
    const {view, width, height} = this;
    const {bands = [], ranges = [], levels = []} = view;
    const lines = Object.entries(view.lines ?? {});
    const members = [...[...lines, ...bands.slice(-1)].map(series => series[1]), ...ranges.flatMap(range => range.slice(1))];
    let least = Infinity, most = 0;
    for (const item of this.items)
      for (const member of members) {
        const value = this.of(item, member);
        if (!(value > 0) || value === Infinity) continue;
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
    if (this.items.length < (view.least ?? 1) || most === 0) return undefined;
    if (view.floor > 0) least = Math.max(least, Math.min(view.floor, most));
    for (const value of levels) {
      if (value > least / 1e6 && value < most * 1e6) [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
    this.from = Math.floor(Math.log10(least) + 1e-9);
    this.to = Math.max(this.from + 1, Math.ceil(Math.log10(most) - 1e-9));
    this.fold(members[0]);
    const every = Math.max(1, Math.floor((this.to - this.from + 5) / 6));
    const labels = [];
    let grid = '';
    for (let decade = this.from; decade <= this.to; decade += every) {
      const label = make('span', {}, view.shares ? percentLabel(decade) : `1e${decade}`);
      label.style.bottom = `${100 * (decade - this.from) / (this.to - this.from)}%`;
      labels.push(label);
      grid += `M0 ${this.y(10 ** decade)}H${width}`;
    }
    const path = (style, d) => draw('path', {class: style, d});
    const here = draw('path', {class: 'here', d: ''});
    const picture = draw('svg', {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': view.label},
      bands.map(band => path(band[0], this.band(band))), ranges.map(range => path(range[0], this.range(range))),
      path('grid', grid),
      levels.filter(value => Math.log10(value) >= this.from && Math.log10(value) <= this.to)
          .map(value => path('line worst', `M0 ${this.y(value)}H${width}`)),
      lines.map(line => path((view.points ? 'points ' : 'line ') + line[0], view.points ? this.points(line[1]) : this.line(line[1]))),
      ['dump', 'root'].map(mark => path('mark ' + mark, this.marks(mark))), here);
    const told = make('p', {class: 'told', 'aria-live': 'polite'});
    const find = event => {
      const box = picture.getBoundingClientRect();
      return Math.min(this.columns.length - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * this.columns.length)));
    };
    picture.onpointermove = event => {
      const at = find(event);
      const [left, right] = [at, at + 1].map(column => column * width / this.columns.length);
      here.setAttribute('d', `M${left} 0V${height}H${right}V0z`);
      told.textContent = this.title(this.columns[at]) ?? '';
    };
    picture.onpointerleave = () => { here.setAttribute('d', ''); told.textContent = ''; };
    picture.onclick = event => {
      const {table, row} = this.columns[find(event)];
      const link = row[table.at.section];
      if (link) location.hash = '#d' + link;
    };
    return [make('div', {class: 'chart'}, make('div', {class: 'scale'}, labels), picture), told,
            make('p', {class: 'key'}, Object.entries(view.legend).flatMap(([style, text]) => [make('span', {class: style}, text), ' ']))];
  }

  fold(member) {
    const rank = item => (this.mark(item) === 'plain' ? 0 : 1e300) + (this.of(item, member) || 0);
    const size = Math.min(kColumns, this.items.length);
    this.columns = new Array(size);
    this.items.forEach((item, i) => {
      const at = Math.floor(i * size / this.items.length);
      if (!this.columns[at] || rank(item) > rank(this.columns[at])) this.columns[at] = item;
    });
  }

  x(column) { return ((column + .5) * this.width / this.columns.length).toFixed(1); }
  y(value) {
    const part = value > 0 ? (Math.log10(value) - this.from) / (this.to - this.from) : 0;
    return (this.height * (1 - Math.min(1, Math.max(0, part)))).toFixed(1);
  }
  edges(column) { return [column, column + 1].map(at => (at * this.width / this.columns.length).toFixed(1)); }

  band([, member, times = 1]) {
    return `M0 ${this.height}` + this.columns.map((item, i) => {
      const value = this.of(item, member) * times;
      const [left, right] = this.edges(i);
      return `L${left} ${value > 0 ? this.y(value) : this.height}H${right}`;
    }).join('') + `V${this.height}Z`;
  }

  range([, low, high]) {
    return this.columns.map((item, i) => {
      const top = this.of(item, high);
      if (!(top > 0)) return '';
      const [left, right] = this.edges(i);
      const bottom = +this.y(this.of(item, low));
      return `M${left} ${bottom}H${right}V${Math.min(this.y(top), bottom - 2)}H${left}Z`;
    }).join('');
  }

  // A 0 has no place on a logarithmic scale: it leaves a gap, as what is not known does.
  line(member) {
    let open = false;
    return this.columns.map((item, i) => {
      const value = this.of(item, member);
      const joined = open;
      open = value > 0;
      return !open ? '' : `${joined ? 'L' : 'M'}${this.x(i)} ${this.y(value)}${joined ? '' : 'h.1'}`;
    }).join('');
  }

  points(member) {
    return this.columns.map((item, i) => this.of(item, member) > 0 ? `M${this.x(i)} ${this.y(this.of(item, member))}h.01` : '').join('');
  }

  marks(mark) {
    // Many would hide the rest.
    const low = this.view.low || this.columns.filter(item => this.mark(item) !== 'plain').length > kMarks;
    return this.columns.map((item, i) => this.mark(item) !== mark ? ''
        : `M${this.x(i)} ${low ? this.height - 12 : 0}V${this.height}`).join('');
  }
}

// ---- the details of a tensor that differs

const facts = (style, pairs) => make('dl', {class: style}, pairs.filter(pair => pair && pair[1])
    .map(([title, ...content]) => make('div', {}, make('dt', {}, title), make('dd', {}, content))));

// "3 both, 1 actual only at [0, 3]"
const specials = (found, sides) => sides.filter(([side]) => found[side]).map(([side, words]) => {
  const first = found['first_' + side];
  return `${count(found[side])} ${words}` + (first ? `${found[side] > 1 ? ', the first at' : ' at'} ${shape(first)}` : '');
}).join(', ');

const swatch = (style, text) => make('span', {},
    draw('svg', {width: 12, height: 12, 'aria-hidden': true}, draw('rect', {class: style, width: 12, height: 12})), text);

// Errors by decade; where there are many decades, a bar has several.
function errors({equal, decades}) {
  if (!decades?.length) return undefined;
  const first = decades[0].decade;
  const span = decades.at(-1).decade - first + 1;
  const width = Math.ceil(span / kBars);
  const rows = [];
  for (let at = first; at < first + span; at += width)
    rows.push({label: `1e${at} – 1e${Math.min(at + width, first + span)}`, count: 0, mismatched: 0});
  for (const {decade, count: all, mismatched} of decades) {
    const row = rows[Math.floor((decade - first) / width)];
    row.count += +all;
    row.mismatched += +mismatched;
  }
  if (equal > 0) rows.unshift({label: '0', count: +equal, mismatched: 0});
  const most = Math.max(...rows.map(row => row.count));
  const bar = row => {
    const length = row.count ? 100 * (1 + Math.log10(row.count)) / (1 + Math.log10(most)) : 0;
    const part = row.mismatched === 0 || row.mismatched >= row.count ? +(row.mismatched > 0)
        : Math.min(.98, Math.max(.02, row.mismatched / row.count));
    return draw('svg', {viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': true},
      draw('rect', {class: 'all', width: length, height: 10}), draw('rect', {class: 'bad', width: length * part, height: 10}));
  };
  return make('figure', {class: 'histogram'},
    make('figcaption', {}, 'Absolute errors by decade', make('br'),
      make('small', {}, 'pairs of finite numbers; bars are as long as the logarithm of the count')),
    make('table', {}, make('thead', {}, make('tr', {}, ['error', '', 'pairs', 'mismatched'].map(title => make('th', {class: title && 'n'}, title)))),
      make('tbody', {}, rows.map(row => make('tr', {}, make('th', {class: 'n'}, row.label), make('td', {class: 'bar'}, bar(row)),
        make('td', {class: 'n'}, count(row.count)), make('td', {class: 'n'}, count(row.mismatched)))))),
    make('p', {class: 'legend'}, swatch('all', 'accepted'), swatch('bad', 'mismatched')));
}

// Cells have the proportions of the tensor, nearly, and levels that are the same in all pictures.
function heat(map, words, dims, levels) {
  const {rows, columns} = map;
  const range = (axis, cell) => [cell * axis.step, Math.min((cell + 1) * axis.step, dims[axis.dim]) - 1];
  const rangeText = ([from, to]) => from === to ? `${from}` : `${from}-${to}`;
  const across = Math.min(22, Math.max(9, 576 / columns));
  const down = Math.min(Math.max(9, across * (map.down && map.across ? map.down.step / map.across.step : 1)), Math.min(24, Math.max(9, 440 / rows)));
  const labels = map.down ? Array.from({length: rows}, (_, row) => rangeText(range(map.down, row))) : [];
  const left = map.down ? Math.max(20 + 6.4 * Math.max(...labels.map(text => text.length)), 7.5 * words.down_name.length + 24) : 4;
  const top = map.across ? 32 : 4;
  const spacing = least => { let every = 1; while (every < least) every *= 2; return every; };
  const text = (x, y, words, style, anchor) => draw('text', {x, y, class: style, 'text-anchor': anchor}, words);
  const parts = [];
  if (map.down) {
    parts.push(text(left - 6, top - 6, words.down_name + ' ↓', 'axis', 'end'));
    for (let row = 0; row < rows; row += spacing(14 / down)) parts.push(text(left - 6, top + (row + .5) * down + 4, labels[row], '', 'end'));
  }
  if (map.across) {
    parts.push(text(left + 1, 11, words.across_name + ' →', 'axis'));
    const label = column => `${range(map.across, column)[0]}`;
    for (let column = 0; column < columns; column += spacing((6.4 * label(columns - 1).length + 12) / across))
      parts.push(draw('path', {class: 'tick', d: `M${left + column * across + .5} ${top}v-5`}), text(left + column * across, top - 7, label(column)));
  }
  const level = (bad, all) => { const share = all ? bad / all : 0; return bad === 0 ? 0 : bad >= all ? levels.length - 1 : levels.findIndex(([below]) => share < below); };
  const cells = [draw('rect', {class: 'h0', width: columns, height: rows})];
  map.mismatched.forEach((line, row) => line.forEach((bad, column) => {
    const all = map.elements[row][column];
    if (!+bad) return;
    const where = [map.down && `${words.down_name} = ${rangeText(range(map.down, row))}`,
                   map.across && `${words.across_name} = ${rangeText(range(map.across, column))}`].filter(part => part).join(', ') || 'all elements';
    cells.push(draw('path', {class: 'h' + level(+bad, +all), d: `M${column} ${row}h1v1h-1z`},
      draw('title', {}, `${where}: ${count(bad)} of ${count(all)}`)));
  }));
  const size = {width: Math.round(left + columns * across + 24), height: Math.round(top + rows * down + 4)};
  return make('figure', {class: 'heat'},
    make('figcaption', {}, words.title, [words.picked, words.coverage].filter(line => line).map(line => [make('br'), make('small', {}, line)]).flat()),
    make('div', {class: 'scroll'}, draw('svg', {...size, viewBox: `0 0 ${size.width} ${size.height}`, role: 'img', 'aria-label': 'heat map of mismatches'},
      parts, draw('g', {transform: `translate(${left} ${top}) scale(${across} ${down})`, 'shape-rendering': 'crispEdges'}, cells))),
    make('p', {class: 'legend'}, levels.map(([, meaning], i) => swatch('h' + i, meaning)), 'of the cell'));
}

function elements(title, rows) {
  if (!rows?.length) return undefined;
  const offset = value => value ?? 'not stored';
  const cells = found => [element(found.actual), element(found.golden), number(found.abs_error), number(found.rel_error),
    found.steps === undefined ? '–' : count(found.steps), number(found.allowed), found.actual_code, found.golden_code,
    offset(found.actual_offset), offset(found.golden_offset)];
  const titles = ['actual', 'golden', 'error', 'relative', 'steps', 'allowed', 'actual code', 'golden code', 'actual byte', 'golden byte'];
  return [make('h3', {}, title), make('div', {class: 'scroll'}, make('table', {class: 'elements'},
    make('thead', {}, make('tr', {}, make('th', {}, 'index'), titles.map(text => make('th', {class: 'n'}, text)))),
    make('tbody', {}, rows.slice(0, kElements).map(found => make('tr', {},
      make('td', {}, shape(found.index ?? []), found.mark && ' ', found.mark && make('small', {}, found.mark)),
      cells(found).map(text => make('td', {class: 'n'}, text))))))),
    rows.length > kElements ? make('p', {class: 'note'}, `${count(rows.length - kElements)} more are not listed.`) : undefined];
}

function differences(tensor, page) {
  const {figures = {}, worst = {}, largest = [], first = []} = tensor;
  const same = (a, b) => String(a?.index) === String(b?.index);
  const big = Number.isFinite(worst.abs?.abs_error) ? [...largest] : [];
  if (big.length && worst.rel && !big.some(found => same(found, worst.rel))) big.unshift(worst.rel);
  const marked = big.map(found => worst.rel && same(found, worst.rel) ? {...found, mark: 'largest relative'} : found);
  const known = tensor.mismatched !== undefined;
  const known_share = known && tensor.compared > 0 ? ` (${kinds.share(tensor.mismatched / tensor.compared)})` : '';
  const rest = text => text.replace(/^: ?| /, '');
  return [
    make('p', {class: 'sides'}, tensor.type[0], ' ', make('small', {}, tensor.type[1])),
    (tensor.hints ?? []).map((hint, i) => make('p', {class: 'hint'}, make('span', {}, i ? 'Or' : 'Likely cause'), ' ', make('b', {}, hint.cause), ' ', hint.evidence)),
    make('ul', {class: 'criteria'}, (tensor.criteria ?? []).map(found => make('li', {class: found.passed ? 'held' : 'failed'},
      make('b', {}, found.name), ' ', found.text.startsWith(found.name) ? rest(found.text.slice(found.name.length)) : found.text))),
    facts('figures', [
      ['mismatched', `${known ? count(tensor.mismatched) : 'some'} of ${count(tensor.compared)}${known_share}`],
      ['max abs', number(tensor.max_abs)], ['max rel', number(tensor.max_rel)], ['max steps', count(tensor.max_ulp)],
      ...page.figures.map(([member, label, unit]) => figures[member] !== undefined && figures.pairs > 0 &&
        [label, number(figures[member]) + (unit && ' ' + unit)]),
      ...(tensor.quantiles ?? []).map(found => ['quantile ' + number(found.q), number(found.value)]),
      tensor.top_k && ['top ' + tensor.top_k.k, `${count(tensor.top_k.disagreeing)} of ${count(tensor.top_k.rows)} rows disagree`],
      ['NaN', specials(tensor.nan, [['both', 'both'], ['actual', 'actual only'], ['golden', 'golden only']])],
      ['Inf', specials(tensor.inf, [['both', 'both'], ['actual', 'actual only'], ['golden', 'golden only'], ['opposite', 'of opposite signs']])]]),
    tensor.passing && make('p', {class: 'required'}, tensor.passing.words,
      (tensor.passing.options ?? []).map((option, i) => [i ? ', or ' : ' ', make('code', {}, option)]).flat(), '.'),
    make('div', {class: 'pictures'}, tensor.histogram && errors(tensor.histogram),
      tensor.heatmap && heat(tensor.heatmap, tensor.heat, tensor.golden_tensor.shape ?? [], page.levels)),
    elements('Largest errors', marked),
    elements(first.length === tensor.mismatched ? 'All mismatches' : `First ${count(first.length)} of ${count(tensor.mismatched ?? 'some')} mismatches`, first),
    make('p', {class: 'up'}, make('a', {href: '#top'}, 'Back to the top'))];
}

// ---- the page

const views = {
  heading: view => make('h' + view.level, {}, view.text),
  note: view => make('p', {class: 'note'}, view.text),
  chart: view => () => new Chart(view).element(),
  filter: view => {
    const box = make('input', {type: 'search', placeholder: 'words of a row', 'aria-label': 'Filter'});
    const checks = Object.entries(view.checks ?? {}).map(([title, member]) => {
      const input = make('input', {type: 'checkbox', value: member});
      return [input, make('label', {}, input, ' ', title)];
    });
    const shown = make('output');
    const act = () => {
      const wanted = {words: box.value.toLowerCase().split(/\s+/).filter(word => word),
                      checks: checks.filter(([input]) => input.checked).map(([input]) => input.value)};
      let kept = 0, all = 0;
      const any = wanted.words.length || wanted.checks.length;
      for (const table of tables.filter(found => !found.name.startsWith('near'))) {
        table.filter(wanted);
        kept += table.kept.length;
        all += table.rows.length;
        const fold = table.element.closest('details');
        if (fold && any && table.kept.length) fold.open = true;
      }
      shown.textContent = any ? `${count(kept)} of ${count(all)}` : '';
    };
    box.oninput = act;
    for (const [input] of checks) input.onchange = act;
    return make('p', {class: 'filter'}, make('label', {}, 'Filter ', box), checks.map(([, label]) => label), shown);
  },
  table: view => {
    const table = new Table(view);
    tables.push(table);
    const cut = view.all > view.rows.length
        ? make('p', {class: 'note'}, `${count(view.all - view.rows.length)} more are not listed.`) : undefined;
    if (!view.folded) return [table.element, cut];
    const fold = make('details', {}, make('summary', {}, view.folded), table.element, cut);
    fold.open = view.open;
    fold.ontoggle = () => { if (fold.open && table.chunks.length === 0) table.draw(); };
    return fold;
  },
  details: (view, page) => page.details.map((tensor, i) => {
    const section = make('section', {id: `d${i + 1}`, class: 'far'},
        make('h2', {}, name(tensor.title), ' ', make('span', {class: 'result ' + tensor.result}, tensor.result)));
    watch(section, {fill: () => {
      forget(section);
      section.classList.remove('far');
      section.append(...differences(tensor, page).flat().filter(item => item));
    }});
    return section;
  }),
};

const source = get('report');
const plain = get('plain');
try {
  let text = source.textContent;
  if (source.dataset.packed !== undefined) {
    const packed = atob(text.trim());
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; ++i) bytes[i] = packed.charCodeAt(i);
    text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text();
  }
  const page = JSON.parse(text);
  const built = page.views.map(view => views[view.view](view, page)).flat();
  plain.replaceChildren(...built.map(part => typeof part === 'function' ? part() : part).flat().filter(part => part));
  plain.id = 'views';
  for (const table of tables) if (!table.element.closest('details:not([open])')) table.draw();
  // A link leads to where its target is when all that is near has been drawn.
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    lazy.get(target)?.fill();
    target.scrollIntoView();
    setTimeout(() => target.scrollIntoView(), 200);
  };
  window.onhashchange = follow;
  follow();
} catch (error) {
  plain.querySelector(':scope > .note:last-child').textContent =
      `The rest of the report cannot be shown by this browser: ${error.message}`;
  throw error;
} finally {
  document.documentElement.dataset.ready = '';
}

// Paper has no scrolling: all of it is drawn, up to a limit.
window.onbeforeprint = () => {
  for (const table of tables)
    table.chunks.slice(0, kPrinted / kChunk).forEach(chunk => lazy.get(chunk)?.fill());
  for (const [target, parts] of [...lazy]) if (target.tagName === 'SECTION') parts.fill();
};
})();
