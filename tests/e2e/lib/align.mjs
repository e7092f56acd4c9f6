/** Aligns two lists of {key, msg}: pairs of indices of a longest common subsequence, where equal bodies weigh more than
 * equal names; -1 where the other list has no partner. */
export function align(a, b) {
	const score = (x, y) => (x.key !== y.key ? 0 : JSON.stringify(x.msg) === JSON.stringify(y.msg) ? 3 : 2);
	const best = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1));
	for (let i = a.length - 1; i >= 0; i--) {
		for (let j = b.length - 1; j >= 0; j--) {
			const both = score(a[i], b[j]);
			best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], both && both + best[i + 1][j + 1]);
		}
	}
	const pairs = [];
	for (let i = 0, j = 0; i < a.length || j < b.length;) {
		const both = i < a.length && j < b.length ? score(a[i], b[j]) : 0;
		if (both && best[i][j] === both + best[i + 1][j + 1]) pairs.push([i++, j++]);
		else if (i < a.length && best[i][j] === best[i + 1][j]) pairs.push([i++, -1]);
		else pairs.push([-1, j++]);
	}
	return pairs;
}
